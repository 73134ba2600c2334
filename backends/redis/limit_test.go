package redis

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRepliesAreLimited(t *testing.T) {
	for _, c := range []struct {
		rule, stream string
		within       bool
	}{
		{"replies of all kinds", "+OK\r\n-ERR x 99999999999\r\n:99999999999999\r\n$5\r\n12345\r\n$-1\r\n*-1\r\n_\r\n,1.5\r\n#t\r\n(99999999999999\r\n=5\r\ntxt:a\r\n!3\r\nERR\r\n", true},
		{"arrays and maps", "*2\r\n$1\r\n1\r\n*0\r\n%1\r\n+a\r\n+b\r\n~1\r\n:1\r\n>1\r\n+a\r\n|1\r\n+a\r\n+b\r\n+OK\r\n", true},
		{"what stands in a string is no length", "$14\r\n*999999999\r\nab\r\n$14\r\n$999999999\r\nab\r\n*1\r\n$0\r\n\r\n", true},
		{"12,000 commands that did something each", strings.Repeat("*0\r\n", 12_000), true},
		{"12,000 values", strings.Repeat("*1000\r\n"+strings.Repeat("$19\r\n9223372036854775807\r\n", 1000), 12), true},
		{"a large string", "$1000000\r\n" + strings.Repeat("x", 1_000_000) + "\r\n", true},
		{"a line without an end", strings.Repeat("x", maxLine+1), false},
		{"a status without an end", "+" + strings.Repeat("x", maxLine), false},
		{"a huge string", "$16777217\r\n", false},
		{"a string longer than an int", "$99999999999999999999999999\r\n", false},
		{"a huge text", "=16777217\r\n", false},
		{"a huge error", "!16777217\r\n", false},
		{"a huge array", "*131073\r\n", false},
		{"a huge set", "~131073\r\n", false},
		{"a huge push", ">131073\r\n", false},
		{"a huge map", "%65537\r\n", false},
		{"a huge attribute", "|65537\r\n", false},
		{"an array longer than an int", "*99999999999999999999999999\r\n", false},
		{"arrays in arrays", strings.Repeat("*1\r\n", maxItems+1), false},
		{"replies that nobody asked for", strings.Repeat(":1\r\n", maxReplies/4+1), false},
	} {
		t.Run(c.rule, func(t *testing.T) {
			require.Equal(t, c.within, new(replies).take([]byte(c.stream)))
			var r replies // byte by byte
			for i := range len(c.stream) {
				if !r.take([]byte{c.stream[i]}) {
					require.False(t, c.within, "at %d", i)
					return
				}
			}
			require.True(t, c.within)
		})
	}
}

// FuzzReplies requires that it makes no difference how a stream is cut.
func FuzzReplies(f *testing.F) {
	f.Add([]byte("*2\r\n$3\r\n123\r\n_\r\n$-1\r\n"), uint(9))
	f.Add([]byte("$99999999\r\n"), uint(3))
	f.Add([]byte("%1\r\n=5\r\ntxt:a\r\n|0\r\n+OK\r\n"), uint(0))
	f.Fuzz(func(t *testing.T, stream []byte, at uint) {
		var whole, cut replies
		ok := whole.take(stream)
		n := int(at % uint(len(stream)+1))
		if cut.take(stream[:n]) && cut.take(stream[n:]) != ok || ok && cut != whole {
			t.Fatalf("cut at %d: %+v, whole: %+v", n, cut, whole)
		}
	})
}
