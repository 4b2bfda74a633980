"""Points of edges of chaos for tests, found by mpmath alone from an engine's means."""

from __future__ import annotations

from functools import lru_cache

from mpmath import mp

from gateproof.numerics.meanfield.mp import mp_engine


@lru_cache(maxsize=32)
def edge(name, sigma_b2, lo, hi, digits=20):
    """(engine, sigma_w2, sigma_b2, q) with chi_1 = 1, q between lo and hi."""
    engine = mp_engine(name, digits)
    with engine.context():
        b = mp.mpf(sigma_b2)

        def f(q):
            return (q - b) * engine.slope_energy(q) - engine.variance(q)

        q = mp.findroot(f, (mp.mpf(lo), mp.mpf(hi)), solver="anderson", tol=mp.mpf(10) ** (-digits - 8))
        return engine, 1 / engine.slope_energy(q), b, q


@lru_cache(maxsize=1)
def tanh_rates():
    """beta_q = 2 D/(q K2) and kappa^2 q/K2 of tanh (kappa = 2) at its published critical point."""
    with mp.workdps(25):
        q = mp.mpf("0.570047881640764")

        def mean(f):
            ends = [0, 1, 2, 4, 8, 14]
            return 2 * mp.quad(lambda z: f(mp.sqrt(q) * z) * mp.npdf(z), ends)

        d = mean(lambda x: mp.sech(x) ** 4)
        k2 = mean(lambda x: (2 * mp.tanh(x) * mp.sech(x) ** 2) ** 2)
        return float(2 * d / (q * k2)), float(4 * q / k2)
