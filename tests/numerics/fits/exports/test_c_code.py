"""The exported C99 header and source file, compiled with all warnings as errors and run."""

from __future__ import annotations

import math
import re
import shutil
import subprocess
from fractions import Fraction

import pytest
from gates_to_export import SPECIAL, Exact, drawn, gate, named, points, wrong, zoo

from gateproof.numerics.fits.exports.about import About
from gateproof.numerics.fits.exports.c_code import c_header, c_source
from gateproof.numerics.fits.exports.form import form_of
from gateproof.numerics.fits.exports.formats import DOUBLE, SINGLE, RefusedExport, rounded

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C compiler (cc, gcc or clang) is installed")
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wshadow", "-Wconversion"]


def literal(x: float, suffix: str = "") -> str:
    if math.isnan(x):
        return "NAN"
    return ("-" if x < 0 else "") + "INFINITY" if math.isinf(x) else x.hex() + suffix


def singles(one):
    """The points, and the special numbers, of single precision."""
    found = [rounded(Fraction(x), SINGLE) for x in points(one)]
    return [*found, *SPECIAL[:4], 2.0**-149, 2.0**127, -(2.0**127)]


def build(folder, texts, main, *options):
    source, program = folder / "main.c", folder / "program"
    source.write_text("#include <stdio.h>\n#include <stddef.h>\n" + "\n".join(texts) + main, encoding="ascii")
    done = subprocess.run(
        [COMPILER, *STRICT, *options, "-o", program, source, "-lm"],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[:3000]
    ran = subprocess.run([program], capture_output=True, text=True, timeout=60, check=True)
    return ran.stdout


def values(folder, gates, *options):
    """For each gate the doubles' and the floats' values; all in one program."""
    texts, bodies = [], []
    for k, (name, one) in enumerate(gates.items()):
        texts.append(c_header(one, About(target="*/ x", name=f"f_{name}")))
        lists = {"d": [*points(one), *SPECIAL], "f": singles(one)}
        arrays = {
            kind: ", ".join(literal(x, "f" if kind == "f" else "") for x in xs) for kind, xs in lists.items()
        }
        bodies.append(
            f"static void run{k}(void)\n{{\n    static const double d[] = {{{arrays['d']}}};\n"
            f"    static const float f[] = {{{arrays['f']}}};\n    size_t k;\n"
            f'    for (k = 0; k < sizeof d / sizeof *d; k++) printf("%.17g ", f_{name}(d[k]));\n'
            f'    for (k = 0; k < sizeof f / sizeof *f; k++) printf("%.17g ", (double)f_{name}f(f[k]));\n'
            f'    printf("\\n");\n}}\n'
        )
    calls = "".join(f"    run{k}();\n" for k in range(len(gates)))
    printed = build(folder, [*texts, *bodies], f"int main(void)\n{{\n{calls}    return 0;\n}}\n", *options)
    found = {}
    for (name, one), line in zip(gates.items(), printed.splitlines(), strict=True):
        numbers = [float(v) for v in line.split()]
        count = len(points(one)) + len(SPECIAL)
        found[name] = numbers[:count], numbers[count:]
    return found


def faults(gates, found):
    said = []
    for name, (doubles, floats) in found.items():
        exact = Exact(gates[name])
        inputs = [*points(gates[name]), *SPECIAL], singles(gates[name])
        for form, xs, ys in zip((DOUBLE, SINGLE), inputs, (doubles, floats), strict=True):
            made = form_of(gates[name], form)
            for x, y in zip(xs, ys, strict=True):
                text = wrong(exact, made, x, y)
                said += [f"{name} {form.name}: {text}"] * bool(text)
    return said


@needs_compiler
@pytest.mark.parametrize("options", [(), ("-O3", "-ffp-contract=fast")])
def test_both_functions_are_within_the_stated_rounding(tmp_path, options):
    gates = zoo()
    found = values(tmp_path, gates, *options)
    assert len(found) == len(gates)
    assert faults(gates, found) == []


@needs_compiler
@pytest.mark.deep
def test_many_random_gates(tmp_path):
    gates = {f"drawn_{seed}": drawn(seed) for seed in range(1000, 1500)}
    assert faults(gates, values(tmp_path, gates)) == []


@needs_compiler
def test_the_check_sees_a_wrong_gate(tmp_path):
    found = values(tmp_path, {"silu": named()["silu"]})
    assert len(faults({"silu": gate([1], [0], [0, 1], [0, "1e-13"])}, found)) > 10


@needs_compiler
def test_a_hard_threshold_is_decided_for_every_float(tmp_path):
    one = gate(["oo"], ["1/10"], [0, 0], [0, 1])
    # The float nearest to 1/10 is above it, so the step is taken there; that below it is not above 1/10.
    near = rounded(Fraction(1, 10), SINGLE)
    below = rounded(Fraction(1, 10), SINGLE, down=True)
    assert below < Fraction(1, 10) < near
    calls = ", ".join(f"(double)gatef({literal(x, 'f')})" for x in (near, below))
    main = f'int main(void)\n{{\n    printf("%g %g", {calls});\n    return 0;\n}}\n'
    assert build(tmp_path, [c_header(one, About())], main) == "1 0"


@needs_compiler
@pytest.mark.parametrize(
    "target", ["*/ int evil(void) { return 1; } /*", "??/\n#error\n", "\\\n#error", "a\r\n#error"]
)
def test_a_target_stays_in_its_comment(tmp_path, target):
    text = c_header(named()["silu"], About(target=target, domain=target, norm=target, lo=target, hi=target))
    assert text.isascii()
    assert text.count("*/") == 1
    main = 'int main(void)\n{\n    printf("%g", gate(0.0));\n    return 0;\n}\n'
    assert build(tmp_path, [text], main, "-trigraphs") == "0"


def sanitized(folder):
    """Options for the sanitizers, where the compiler has their libraries."""
    options = ["-g", "-fsanitize=undefined,address,float-cast-overflow", "-fno-sanitize-recover=all"]
    source = folder / "none.c"
    source.write_text("int main(void)\n{\n    return 0;\n}\n", encoding="ascii")
    done = subprocess.run(
        [COMPILER, *options, "-o", folder / "none", source], capture_output=True, timeout=120, check=False
    )
    if done.returncode:
        pytest.skip("the compiler has no sanitizers")
    return options


@needs_compiler
def test_nothing_is_undefined(tmp_path):
    gates = {**named(), **{f"drawn_{s}": drawn(s) for s in range(8)}}
    assert faults(gates, values(tmp_path, gates, *sanitized(tmp_path))) == []


@needs_compiler
@pytest.mark.parametrize("standard", ["-std=c99", "-std=gnu99", "-std=gnu11"])
def test_names_clash_with_nothing(tmp_path, standard):
    # Where usual headers are included as well; a few that would: see test_names_that_are_none.
    named_so = (
        "gelu",
        "step",
        "t",
        "c",
        "a1",
        "z1",
        "fit",
        "hard",
        "shared",
        "gate",
        "relu6",
        "model",
        "n",
        "y",
    )
    texts = [c_header(named()["free"], About(name=name)) for name in named_so]
    headers = ["stdio", "stdlib", "string", "time", "signal", "unistd"]
    include = "".join(f"#include <{h}.h>\n" for h in headers)
    source = tmp_path / "all.c"
    source.write_text(include + "\n".join(texts) + "int main(void)\n{\n    return 0;\n}\n", encoding="ascii")
    done = subprocess.run(
        [COMPILER, *STRICT, standard, "-fsyntax-only", source],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[:3000]


@needs_compiler
def test_two_headers_and_one_twice_stand_in_one_file(tmp_path):
    silu, tanh = (c_header(named()[name], About(name=f"my_{name}")) for name in ("silu", "tanh"))
    main = 'int main(void)\n{\n    printf("%g %g", my_silu(0.0), my_tanh(0.0));\n    return 0;\n}\n'
    assert build(tmp_path, [silu, tanh, silu], main) == "0 0"


def test_numbers_that_float_cannot_hold_leave_the_double_function():
    text = c_header(gate([1], [0], [0, "1e60"], [0, 0]), About())
    assert "gatef" not in text.replace("no float", "")
    assert "There is no float function: 1e60 is too large for float." in text
    with pytest.raises(RefusedExport, match="too large for double"):
        c_header(gate([1], [0], [0, "1e400"], [0, 0]), About())


def test_decimals_of_single_precision_read_back():
    one = named()["symbolic"]
    made, text = form_of(one, SINGLE), c_header(one, About())
    numbers = {rounded(Fraction(t), SINGLE) for t in re.findall(r"(\d+\.\d+(?:e[+-]?\d+)?)f", text)}
    assert {abs(v) for v in (*made.slope, *made.theta, *made.intercept) if abs(v) not in (0, 1)} <= numbers


@needs_compiler
def test_a_source_file_is_compiled_and_linked_and_is_the_header(tmp_path):
    one, about = named()["silu"], About(name="my_silu")
    (tmp_path / "my_silu.c").write_text(c_source(one, about), encoding="ascii")
    (tmp_path / "my_silu.h").write_text(c_header(one, about), encoding="ascii")
    # Its comment says what a program declares; one that includes the header beside it calls that.
    declared = re.findall(r"^ \*   (\w+ \w+\(\w+ x\);)$", c_source(one, about), re.MULTILINE)
    assert declared == ["double my_silu(double x);", "float my_siluf(float x);"]
    body = 'printf("%a %a", my_silu(0.3), (double)my_siluf(0.3f));\n    return 0;\n'
    printed = []
    for start in ("\n".join(declared), '#include "my_silu.h"'):
        main = f"#include <stdio.h>\n{start}\nint main(void)\n{{\n    {body}}}\n"
        (tmp_path / "main.c").write_text(main, encoding="ascii")
        done = subprocess.run(
            [COMPILER, *STRICT, "-Wmissing-prototypes", "-o", "program", "main.c", "my_silu.c", "-lm"],
            cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[:3000]
        printed.append(
            subprocess.run([tmp_path / "program"], capture_output=True, text=True, check=True).stdout
        )
    double, single = map(float.fromhex, printed[0].split())
    assert printed[0] == printed[1]
    assert double == pytest.approx(0.3 / (1 + math.exp(-0.3)), rel=1e-15)
    assert single == pytest.approx(0.3 / (1 + math.exp(-0.3)), rel=1e-6)


def test_a_source_file_without_a_float_function_declares_none():
    text = c_source(gate([1], [0], [0, "1e60"], [0, 0]), About())
    assert "float gatef" not in text
    assert text.count("double gate(double x);\n") == 2
