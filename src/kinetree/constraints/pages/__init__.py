"""The algorithms of a mechanism, one page each, over any scalar; a page is imported when it is first used."""
