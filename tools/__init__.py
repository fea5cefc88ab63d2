"""What makes files of this repository: run by hand or by make, never by the program."""
