package servertest

import "testing"

// Chromium returns the path of a Chromium or Chrome, whatever a distribution calls it, or skips the test as Binary
// does.
func Chromium(t testing.TB) string {
	t.Helper()
	const name = "chromium"
	for _, other := range []string{name, "chromium-browser", "google-chrome"} {
		if path, err := lookPath(other); err == nil {
			return path
		}
	}
	return Binary(t, name)
}
