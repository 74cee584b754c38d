"""The chat document as text: layout, headings, sections and transcript, without an editor."""
