package backends

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/wrstats/go-wrstats/backends/memory"
	"github.com/wrstats/go-wrstats/wrstats"
)

func openMemory(_ context.Context, rawURL string) (wrstats.Store, error) {
	u, err := parse(rawURL)
	if err != nil {
		return nil, err
	}
	if part := surplus(u); part != "" {
		return nil, fmt.Errorf("wrstats: memory backend URL takes no %s", part)
	}
	return memory.New(memory.Options{}), nil
}

// surplus names what a URL has after its scheme, or returns "". Whatever may hold a password is
// named but not quoted.
func surplus(u *url.URL) string {
	parameters := slices.Sorted(maps.Keys(u.Query()))
	switch {
	case u.User != nil, strings.Contains(u.Opaque+u.Path, "@"):
		return "user"
	case u.Host != "":
		return fmt.Sprintf("host: %q", u.Host)
	case u.Opaque+u.Path != "":
		return fmt.Sprintf("path: %q", u.Opaque+u.Path)
	case len(parameters) > 0:
		return fmt.Sprintf("parameter: %q", parameters[0])
	case u.RawQuery != "" || u.ForceQuery:
		return "parameters"
	case u.Fragment != "":
		return "fragment"
	}
	return ""
}
