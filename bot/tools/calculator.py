"""Arithmetic. The evaluator is simpleeval: an allowlist over Python's syntax tree, nothing is executed."""

import ast
import math
import operator
from typing import Annotated, Any

import simpleeval

from bot.toolkit import ToolFault, tool

MAX_CHARS = 500
MAX_BITS = 20_000  # of a whole number, about 6,000 digits


def _bits(value: Any) -> int:
    return value.bit_length() if isinstance(value, int) else 64


def _power(base: Any, exponent: Any) -> Any:
    if _bits(base) * abs(exponent) > MAX_BITS and isinstance(base, int) and isinstance(exponent, int):
        raise ToolFault("The result would have too many digits.")
    return base**exponent


def _times(left: Any, right: Any) -> Any:
    if _bits(left) + _bits(right) > MAX_BITS:
        raise ToolFault("The result would have too many digits.")
    return left * right


def _factorial(number: int) -> int:
    if not isinstance(number, int) or not 0 <= number <= 1000:
        raise ToolFault("factorial takes a whole number from 0 to 1000.")
    return math.factorial(number)


OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: _times,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}

FUNCTIONS = {
    "abs": abs,
    "round": round,
    "min": min,
    "max": max,
    "factorial": _factorial,
    **{name: getattr(math, name) for name in ("sqrt", "exp", "log", "log10", "log2", "sin", "cos", "tan", "asin")},
    **{name: getattr(math, name) for name in ("acos", "atan", "atan2", "degrees", "radians", "floor", "ceil", "hypot")},
}

CONSTANTS = {"pi": math.pi, "e": math.e}


def evaluate(expression: str) -> str:
    """The value of an arithmetic expression as text. Raises ToolFault with a sentence that says what is wrong."""
    if len(expression) > MAX_CHARS:
        raise ToolFault(f"The expression is longer than {MAX_CHARS} characters: calculate it in parts.")
    evaluator = simpleeval.SimpleEval(operators=OPERATORS, functions=FUNCTIONS, names=CONSTANTS)
    try:
        tree = ast.parse(expression.strip().replace("^", "**"), mode="eval").body
        _allow(tree)
        value = evaluator.eval(expression, previously_parsed=tree)
    except ToolFault:
        raise
    except (MemoryError, RecursionError):
        raise ToolFault("The expression is nested too deeply: calculate it in parts.") from None
    except SyntaxError:
        raise ToolFault("This is not an arithmetic expression. Example: (2 + 3) * sqrt(16) / 7.") from None
    except ZeroDivisionError:
        raise ToolFault("It divides by zero.") from None
    except (OverflowError, ValueError, TypeError) as error:
        raise ToolFault(f"It has no value: {error}.") from None
    except (simpleeval.InvalidExpression, KeyError, AttributeError):
        raise ToolFault(f"Only numbers, + - * / // % ** ( ) and these work: {', '.join(FUNCTIONS)}, pi, e.") from None
    if isinstance(value, int):
        return str(value) if _bits(value) < 14_000 else hex(value)
    if isinstance(value, float) and math.isfinite(value):
        return f"{value:.15g}"  # the digits a double surely has, so that 0.1 + 0.2 is 0.3
    raise ToolFault("The result is not a finite number.")


def _allow(tree: ast.AST) -> None:
    """Refuse everything but numbers, operators, names and calls by name, before anything is evaluated."""
    allowed = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.Name, ast.Call, ast.operator, ast.unaryop, ast.expr_context)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and type(node.value) not in (int, float):
            raise ToolFault("Only numbers can be calculated, not text.")
        if not isinstance(node, allowed) or (isinstance(node, ast.Call) and node.keywords):
            raise simpleeval.InvalidExpression("syntax")


@tool(seconds=5)
async def calculator(
    expression: Annotated[str, "Arithmetic in Python's notation, such as (2 + 3) * sqrt(16) / 7. ^ means power."],
) -> str:
    """Calculate an arithmetic expression.

    Use it for every calculation, also an easy one. It knows + - * / // % **, brackets, sqrt, log, sin and the like,
    factorial, min, max, round, pi and e. It knows no variables, units, dates or currencies.
    """
    return evaluate(expression)
