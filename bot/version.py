"""Which Kabar this is: packages for Lambda carry no metadata that could be asked."""

VERSION = "0.1.0"
