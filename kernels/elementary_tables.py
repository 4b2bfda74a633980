"""Polynomials of the elementary functions in single precision, from Chebyshev interpolation in 60 digits.

EXPM1 is (expm1(r) - r)/r**2 for |r| <= log(2)/2, ATANH is (2*atanh(s) - 2*s)/s**3 in s**2 for |s| <= 1/3,
TANH is (tanh(u)/u - 1)/u**2 in u**2 for |u| <= TANH_SPLIT, ATAN is (atan(w)/w - 1)/w**2 in w**2 for
|w| <= tan(pi/8). Each errs by less than 2**-26 of the function that
it helps to compute; the tests compute them again.
"""

from __future__ import annotations

EXPM1 = (
    0.5000000013487226,
    0.16666666681647016,
    0.04166646471137908,
    0.00833331090172597,
    0.0013933673732931852,
    0.0001989101718430203,
)
ATANH = (
    0.6666666732052742,
    0.3999970633192972,
    0.28592357994302836,
    0.21706575800880373,
    0.2322432922402335,
)
TANH_SPLIT = 0.55
TANH = (
    -0.3333333200797698,
    0.1333311372902087,
    -0.05390942882746055,
    0.021309388664443474,
    -0.006610227831114735,
)
ATAN = (
    -0.333333332792548,
    0.19999977258688387,
    -0.14284151193628614,
    0.11071365021884794,
    -0.08624676145249494,
    0.050481385120797445,
)
#: log(2) in two parts: the first has 15 bits, so that its products with exponents are exact.
LN2_HIGH, LN2_LOW = 0.693145751953125, 1.4286068203094172e-06
