package page

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// colours returns the variables of a part of the style sheet.
func colours(t *testing.T, css string) map[string]string {
	all := make(map[string]string)
	for _, m := range regexp.MustCompile(`--([a-z0-9-]+): #([0-9a-f]{3,6})\b`).FindAllStringSubmatch(css, -1) {
		hex := m[2]
		if len(hex) == 3 {
			hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
		}
		all[m[1]] = hex
	}
	require.NotEmpty(t, all)
	return all
}

// luminance and contrast are those of WCAG 2.
func luminance(t *testing.T, hex string) float64 {
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
		require.NoError(t, err)
		v := float64(n) / 255
		if v <= 0.04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		sum += weight * v
	}
	return sum
}

func contrast(t *testing.T, a, b string) float64 {
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func TestContrastSufficesInBothThemes(t *testing.T) {
	css, _, ok := Asset("style.css")
	require.True(t, ok)
	light, rest, ok := strings.Cut(string(css), "@media (prefers-color-scheme: dark)")
	require.True(t, ok)
	dark, _, ok := strings.Cut(rest, "*, ::before")
	require.True(t, ok)
	for theme, c := range map[string]map[string]string{"light": colours(t, light), "dark": colours(t, dark)} {
		for _, pair := range []struct {
			what, on string
			least    float64 // 4.5 for text, 3 for marks
		}{
			{"text", "page", 7}, {"text", "surface", 7}, {"text", "faint", 7}, {"text", "warn-back", 7},
			{"muted", "page", 4.5}, {"muted", "surface", 4.5}, {"muted", "faint", 4.5},
			{"accent", "page", 4.5}, {"accent", "surface", 4.5}, {"accent", "faint", 4.5}, {"accent", "warn-back", 4.5},
			{"warn", "warn-back", 4.5}, {"danger-text", "danger", 4.5},
			{"bar", "surface", 3}, {"bar", "page", 3}, {"p50", "surface", 3}, {"p95", "surface", 3}, {"p99", "surface", 3}, {"warn", "surface", 3},
		} {
			require.GreaterOrEqual(t, contrast(t, c[pair.what], c[pair.on]), pair.least, "%s: %s on %s", theme, pair.what, pair.on)
		}
		require.Len(t, c, len(colours(t, light)), "each colour has one of the dark")
	}
}

func TestNothingMovesWhereThatIsNotWanted(t *testing.T) {
	css, _, _ := Asset("style.css")
	before, after, ok := strings.Cut(string(css), "@media (prefers-reduced-motion: no-preference)")
	require.True(t, ok)
	_, after, _ = strings.Cut(after, "\n}")
	for _, part := range []string{before, after} {
		require.NotContains(t, part, "transition")
		require.NotContains(t, part, "animation")
	}
}
