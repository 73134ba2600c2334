package backends_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/backends"
)

// FuzzOpen requires of every URL that it is a store, or an error that does not hold the password.
func FuzzOpen(f *testing.F) {
	for _, rest := range []string{
		"@a:11211,b/?timeout=1s&protocol=meta&route=/x/y/&hash=ketama&conns=2", "@[::1]:6379/2?pool_size=3", "@/run/a.sock?db=1",
		"@a,b:1/name/3?read_timeout=1s&addr=c:1", "@h/?%zz", "@h#x", "/x@h", "?x@h", "@", "@:1", "@a:65536", "@a,,b", "%zz@h", "@h/?a=1&a=2",
	} {
		for _, scheme := range []string{
			"memory", "memcached", "memcacheds", "redis", "rediss", "redis+unix", "redis+cluster", "redis+sentinel", "rediss+sentinel", "x",
		} {
			f.Add(scheme, "user", rest)
		}
	}
	const password = "hunter2-s3cret"
	f.Fuzz(func(t *testing.T, scheme, user, rest string) {
		if strings.Contains(scheme+user+rest, password) || !strings.Contains(rest, "@") { // then it is no password
			return
		}
		for _, url := range []string{scheme + "://" + user + ":" + password + rest, scheme + ":" + rest} {
			store, err := backends.Open(t.Context(), url)
			if err != nil {
				require.NotContains(t, err.Error(), password)
				require.Nil(t, store)
				continue
			}
			require.NoError(t, store.Close())
		}
	})
}
