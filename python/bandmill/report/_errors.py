try:
    from .._errors import Error
except ImportError:  # as a package of its own, without the compiled module (script/demo)

    class Error(Exception):  # type: ignore[no-redef]
        """Stands for bandmill.Error."""


class ReportError(Error):
    """A file that cannot be reported on, or something missing that the report needs: one line that says what to do."""
