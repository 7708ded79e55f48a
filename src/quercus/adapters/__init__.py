"""Our learners as those of other libraries; each module needs its library and is imported only when it is used."""
