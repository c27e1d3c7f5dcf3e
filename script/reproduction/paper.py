"""What the paper prints: its tables, figures and the places where it errs. Facts, in our own words."""

TITLE = "A Batched GPU Methodology for Numerical Solutions of Partial Differential Equations"
AUTHORS = "Carroll, Gloster, Bustamante and Ó Náraigh"

# Seconds of 1000 Crank-Nicolson steps on a V100, {(M, N): (the paper's solver, one matrix per system)}.
DIFFUSION_SECONDS = {
    (2**6, 64): (0.097, 0.127), (2**6, 256): (0.161, 0.267), (2**6, 1024): (0.510, 0.850),
    (2**12, 64): (0.101, 0.192), (2**12, 256): (0.255, 0.549), (2**12, 1024): (1.020, 1.987),
    (2**16, 64): (1.278, 2.894), (2**16, 256): (5.015, 11.460), (2**16, 1024): (20.268, 46.175),
}  # fmt: skip
# The same for hyperdiffusion: printed as seconds, meant as milliseconds (erratum 6).
HYPERDIFFUSION_MILLISECONDS = {
    (2**6, 64): (369.902, 376.321), (2**6, 256): (461.727, 487.455), (2**6, 1024): (658.475, 717.109),
    (2**12, 64): (460.857, 523.693), (2**12, 256): (429.127, 535.657), (2**12, 1024): (1344.377, 1495.057),
    (2**16, 64): (1786.018, 2562.037), (2**16, 256): (6535.750, 9707.131), (2**16, 1024): (25893.904, 38407.516),
}  # fmt: skip
TIMES = {  # seconds
    "diffusion": DIFFUSION_SECONDS,
    "hyperdiffusion": {key: (a / 1e3, b / 1e3) for key, (a, b) in HYPERDIFFUSION_MILLISECONDS.items()},
}

# {N: (E_N, order)}, as printed.
CONVERGENCE = {
    128: ("0.0310", "3.7932"), 256: ("0.0022", "2.0376"), 512: ("5.45e-4", "2.0089"), 1024: ("1.35e-4", "2.0022"),
    2048: ("3.38e-5", "2.0005"), 4096: ("8.45e-6", "0.8947"), 8192: ("4.54e-6", ""),
}  # fmt: skip
FORCED_CONVERGENCE = {
    256: ("0.0013", "2.8363"), 512: ("1.8e-4", "1.9869"), 1024: ("4.54e-5", "2.0086"), 2048: ("1.13e-5", "1.9673"),
    4096: ("2.88e-5", ""),
}  # fmt: skip

CORRELATION = {"2pi": 0.9989, "4pi": 0.9996}
# Mean of l over 16,384 runs of a separate program, with its standard error: {t: (l, s.e.)}, L = 2 pi.
DOMAIN_SIZE = {
    1: (1.9553, 0.0015), 2: (2.1513, 0.0017), 5: (2.4717, 0.0023), 10: (2.7301, 0.0022), 20: (2.9996, 0.0032),
    50: (3.3802, 0.0035), 100: (3.6231, 0.0028),
}  # fmt: skip
