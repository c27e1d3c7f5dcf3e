class ReportError(Exception):
    """A file that cannot be reported on, or something missing that the report needs: one line that says what to do."""
