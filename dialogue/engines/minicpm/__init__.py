"""MiniCPM-o's full duplex: the open demo server and the public gateway."""
