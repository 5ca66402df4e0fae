"""Recipe of the shipped weights (`make train`); not part of the product."""
