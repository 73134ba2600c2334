package page

import (
	"strconv"
	"strings"
)

// MaxSparkWindows is how many of the last windows a sparkline has.
const MaxSparkWindows = 24

const (
	sparkSlot   = 8 // of one bar, with its gap
	sparkBar    = 6
	sparkHeight = 22
)

// A spark is a sparkline of runs: a bar for each window.
type spark struct {
	Width, Height                int
	Whole, Lacking, Now, Nothing string // paths: of whole windows, those that lack counters, the one in progress, those not found
	Text                         string // the same in words
}

func newSpark(runs []*float64, incomplete []bool) spark {
	var whole, lacking, now, nothing strings.Builder
	var text []string
	most := 0.0
	for _, n := range runs {
		if n != nil {
			most = max(most, *n)
		}
	}
	for i, n := range runs {
		x := i * sparkSlot
		if n == nil {
			bar(&nothing, x+2, 2, 2)
			text = append(text, "none")
			continue
		}
		to := &whole
		switch {
		case incomplete[i]:
			to = &lacking
		case i == len(runs)-1:
			to = &now
		}
		bar(to, x, sparkBar, barHeight(*n, most, sparkHeight))
		text = append(text, number(*n))
	}
	return spark{
		Width: max(1, len(runs)*sparkSlot-2), Height: sparkHeight,
		Whole: whole.String(), Lacking: lacking.String(), Now: now.String(), Nothing: nothing.String(),
		Text: strings.Join(text, ", "),
	}
}

// barHeight is 1 at least, so that what is found shows.
func barHeight(n, most float64, height int) int {
	if most == 0 {
		return 1
	}
	return max(1, int(n/most*float64(height)+0.5))
}

// bar adds a bar that stands on the bottom to a path.
func bar(b *strings.Builder, x, width, height int) {
	b.WriteString("M" + strconv.Itoa(x) + " " + strconv.Itoa(sparkHeight) + "v-" + strconv.Itoa(height) +
		"h" + strconv.Itoa(width) + "v" + strconv.Itoa(height) + "z")
}
