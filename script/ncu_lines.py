"""Turns the table that `ncu --csv --page raw` writes, one column per counter, into lines: case, counter, unit, value.
Keeps what says how busy the parts of the chip are and what warps wait for; leaves out zeros."""
import csv
import re
import sys

KEPT = re.compile(r"""gpu__time_duration\.sum
    | launch__(registers_per_thread|block_size|grid_size|waves_per_multiprocessor|shared_mem_per_block_dynamic)
    | sm__warps_active\.avg\.pct_of_peak_sustained_active
    | (gpu__dram|lts_|sm_)_throughput\.avg\.pct_of_peak_sustained_elapsed
    | (breakdown:.*)?l1tex__data_pipe_lsu_wavefronts\.avg\.pct_of_peak_sustained_elapsed
    | smsp__issue_active\.avg\.per_cycle_active
    | smsp__warps_eligible\.avg\.per_cycle_active
    | sm__inst_executed_pipe_\w+\.avg\.pct_of_peak_sustained_active
    | smsp__average_warps_issue_stalled_(?!\w*_not_issued)\w+_per_issue_active\.ratio""", re.VERBOSE)


def is_zero(value):
    try:
        return float(value.replace(",", "")) == 0
    except ValueError:
        return value == ""


def main():
    rows = [row for row in csv.reader(sys.stdin) if len(row) > 10]
    if len(rows) < 3:
        sys.exit("ncu_lines: ncu has written no table; did it find the kernel, and may it read the counters?")
    out = csv.writer(sys.stdout, quoting=csv.QUOTE_ALL, lineterminator="\n")
    for name, unit, value in zip(*rows[:3]):
        if KEPT.fullmatch(name) and not is_zero(value):
            out.writerow([sys.argv[1], name, unit, value])


if __name__ == "__main__":
    main()
