"""A pytest plugin: calls a large parameter by its size.

pytest tells every program that a test starts the test's name, in the variable PYTEST_CURRENT_TEST. A name that spells out a
parameter of hundreds of kilobytes is longer than what execve(2) takes for one variable, and no program starts.
"""

BYTES_MAX = 200


def pytest_make_parametrize_id(config, val, argname):
    if isinstance(val, (bytes, str)) and len(val) > BYTES_MAX:
        return f"{argname}-of-{len(val)}"
    return None
