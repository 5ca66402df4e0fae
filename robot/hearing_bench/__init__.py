"""The hearing's own figures: recorded or drawn takes through the ears, judged against what truly happened."""
