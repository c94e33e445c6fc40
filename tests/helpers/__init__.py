"""What several test files share: dense spatial algebra, random trees, and other libraries as oracles."""
