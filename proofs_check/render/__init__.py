"""HTML, Markdown, JUnit and terminal text, each made from report.json's document alone."""
