"""Names that a function in generated code cannot have, in C, in Python or in torch modules."""

from __future__ import annotations

import keyword
import re

#: Keywords of C99, of GNU C and C++, and what generated text uses.
_USED = (
    "auto break case char const continue default do double else enum extern float for goto if inline int "
    "long register restrict return short signed sizeof static struct switch typedef union unsigned void "
    "volatile while asm typeof linux unix i386 bool true false new delete this template typename "
    "namespace operator private public protected virtual friend using throw catch explicit mutable export "
    "nullptr constexpr main math numpy np torch nn min max float64 x super isinstance TypeError NUMBERS "
    "CENTRE REACH INFINITY NAN HUGE_VAL isnan isinf isfinite isnormal signbit fpclassify isgreater "
    "isgreaterequal isless islessequal islessgreater isunordered"
)
#: Functions of the C library, and of POSIX where compilers or usual headers know them; <math.h> is apart.
_LIBRARY = (
    "remove rename tmpfile tmpnam fclose fflush fopen freopen setbuf setvbuf fprintf fscanf printf scanf "
    "snprintf sprintf sscanf vfprintf vfscanf vprintf vscanf vsnprintf vsprintf vsscanf fgetc fgets fputc "
    "fputs getc getchar gets putc putchar puts ungetc fread fwrite fgetpos fseek fsetpos ftell rewind "
    "clearerr feof ferror perror stdin stdout stderr atof atoi atol atoll strtod strtof strtold strtol "
    "strtoll strtoul strtoull rand srand calloc free malloc realloc abort atexit exit getenv system "
    "bsearch qsort abs div labs ldiv llabs lldiv mblen mbtowc wctomb mbstowcs wcstombs memcpy memmove "
    "strcpy strncpy strcat strncat memcmp strcmp strcoll strncmp strxfrm memchr strchr strcspn strpbrk "
    "strrchr strspn strstr strtok memset strerror strlen strdup isalnum isalpha isblank iscntrl isdigit "
    "isgraph islower isprint ispunct isspace isupper isxdigit tolower toupper clock difftime mktime time "
    "asctime ctime gmtime localtime strftime signal raise setjmp longjmp errno assert access alarm alloca "
    "bcmp bcopy brk bzero chdir chown close confstr crypt ctermid daemon dup dup2 encrypt environ execl "
    "execv ffs fork ftruncate getopt getpid getuid index rindex kill link lseek nice open optarg optind "
    "pause pipe poll pwrite pread random read readlink rmdir sbrk select sleep srandom stat swab symlink "
    "sync timer truncate ttyname unlink usleep vfork wait write finite isascii toascii getline getdelim "
    "getw putw popen pclose fdopen fileno initstate setstate setenv putenv stpcpy realpath mkstemp mktemp "
    "valloc size_t ssize_t wchar_t time_t float_t double_t div_t"
)
#: Functions of <math.h>, and of the C library beside it, each with f and l behind it too.
_MATH = re.compile(
    "(a?(cos|sin|tan)h?|atan2|cbrt|ceil|copysign|erfc?|exp(2|10|m1)?|f?abs|labs|fdim|floor|fma|fmax|fmin|fmod"
    "|frexp|[lt]?gamma|hypot|ilogb|[jy][01n]|ldexp|l?l?r(int|ound)|log(10|1p|2|b)?|modf|nan|nearbyint"
    "|nextafter|nexttoward|pow(10)?|remainder|remquo|rint|round|scalbl?n?|significand|signgam|sincos|sqrt"
    "|trunc|drem)[fl]?"
)
_WORDS = frozenset((*_USED.split(), *_LIBRARY.split()))


def is_reserved(name: str) -> bool:
    """Whether a function of that name, or its form in single precision with f behind, would clash."""
    return any(
        one in _WORDS or keyword.iskeyword(one) or _MATH.fullmatch(one) is not None
        for one in (name, f"{name}f")
    )
