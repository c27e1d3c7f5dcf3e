"""Turns the table that `ncu --csv --page raw` writes, one column per counter, into lines: case, counter, unit, value."""
import csv
import sys


def main():
    rows = [row for row in csv.reader(sys.stdin) if len(row) > 10]
    if len(rows) < 3:
        sys.exit("ncu_lines: ncu has written no table; did it find the kernel, and may it read the counters?")
    names, units, values = rows[0], rows[1], rows[2]
    out = csv.writer(sys.stdout, quoting=csv.QUOTE_ALL, lineterminator="\n")
    for name, unit, value in zip(names, units, values):
        if "__" in name:
            out.writerow([sys.argv[1], name, unit, value])


if __name__ == "__main__":
    main()
