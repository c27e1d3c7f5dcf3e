from report_files import chromium, studies_page, study_folder  # noqa: F401 (fixtures)

try:
    import hypothesis
except ModuleNotFoundError:
    pass
else:
    # The same cases every time, on machines of any speed; nothing is written beside the sources.
    hypothesis.settings.register_profile("bandmill", deadline=None, derandomize=True, database=None)
    hypothesis.settings.load_profile("bandmill")
