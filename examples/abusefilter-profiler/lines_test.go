package main

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

func TestLineReader(t *testing.T) {
	long := strings.Repeat("x", maxLine)
	tests := []struct {
		rule string
		in   string
		want []string // "!" is a line that is too long
	}{
		{"no input has no lines", "", nil},
		{"a last line needs no end", "a\nb", []string{"a", "b"}},
		{"the end of a line is LF or CR LF", "a\r\nb\n", []string{"a", "b"}},
		{"empty lines are lines", "\n\na\n", []string{"", "", "a"}},
		{"a line may be longer than the buffer", long[:200_000] + "\na\n", []string{long[:200_000], "a"}},
		{"a line of 1 MiB with its end is whole", long[1:] + "\na\n", []string{long[1:], "a"}},
		{"a longer line is passed over and the rest is read", long + "xy\na\n", []string{"!", "a"}},
		{"a longer last line is passed over", "a\n" + long + "xy", []string{"a", "!"}},
		{"lines after long ones are not mixed with them", long[:100_000] + "\n" + long + "\nb\n" + long[:70_000], []string{long[:100_000], "!", "b", long[:70_000]}},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			l := newLineReader(strings.NewReader(tt.in))
			require.Equal(t, tt.want, readLines(t, l))
			require.Equal(t, len(tt.want), l.number)
		})
	}
}

func readLines(t *testing.T, l *lineReader) (lines []string) {
	for {
		line, err := l.next()
		switch {
		case errors.Is(err, io.EOF):
			return lines
		case errors.Is(err, errLongLine):
			lines = append(lines, "!")
		default:
			require.NoError(t, err)
			lines = append(lines, string(line))
		}
	}
}

func TestLineReaderDropsALineThatAFailureCutsOff(t *testing.T) {
	failure := errors.New("the disk is gone")
	for _, head := range []string{"a\n{\"half", "a\n" + strings.Repeat("x", 100_000), "a\n" + strings.Repeat("x", 2*maxLine)} {
		l := newLineReader(io.MultiReader(strings.NewReader(head), iotest.ErrReader(failure)))
		line, err := l.next()
		require.NoError(t, err)
		require.Equal(t, "a", string(line))
		_, err = l.next()
		require.ErrorIs(t, err, failure)
	}
}
