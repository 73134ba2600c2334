// Package backends opens stores by URL, so that a service changes its backend by one string. It is
// the one place that knows every backend; a program that needs only one imports that one's package.
package backends

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/wrstats/go-wrstats/wrstats"
)

// An opener opens a backend by its URL, whose scheme is in lower case. Its errors name what is wrong, but
// hold no part of the URL that may be a password, nor the text of an error of net/url, which quotes what
// it can't parse.
type opener func(ctx context.Context, rawURL string) (wrstats.Store, error)

// openers are all backends, by the scheme of their URLs.
var openers = map[string]opener{
	"memory":         openMemory,
	"memcached":      openMemcached,
	"memcacheds":     openMemcached,
	"redis":          openRedis,
	"rediss":         openRedis,
	"redis+unix":     openRedis,
	"redis+cluster":  openRedis,
	"rediss+cluster": openRedis,
	"redis+sentinel": openRedis,

	"rediss+sentinel": openRedis,
}

var (
	errNoURL      = errors.New("wrstats: no backend URL")
	errNoScheme   = errors.New("wrstats: backend URL has no scheme, as memory: and memcached://localhost:11211 have")
	errUnparsable = errors.New("wrstats: backend URL that can't be parsed; an example is memcached://localhost:11211")
)

// Open opens the backend that a URL names. The caller closes the store. Servers are dialled when they are
// needed, so one that is down is no error here.
//
//	memory:                                              package memory; no host, path or parameters
//	memcached://user:password@a:11211,b:11211/?hash=ketama   package memcached: see memcached.ParseURL
//	memcacheds://a:11211                                 over TLS
//	redis://user:password@a:6379/0                       package redis: see redis.Open
//	redis+cluster://a:6379,b:6379
//	redis+sentinel://a:26379,b:26379/primary-name
//
// An error names the part of the URL that is wrong, and never holds a password.
func Open(ctx context.Context, rawURL string) (wrstats.Store, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	scheme, open, err := openerOf(rawURL)
	if err != nil {
		if url := meant(rawURL); url != "" {
			err = fmt.Errorf("%w; did you mean %s?", err, url)
		}
		return nil, err
	}
	return open(ctx, scheme+rawURL[len(scheme):])
}

// openerOf returns the scheme in lower case, and what opens it.
func openerOf(rawURL string) (scheme string, open opener, err error) {
	scheme, err = schemeOf(rawURL)
	if err != nil {
		return "", nil, err
	}
	open, ok := openers[scheme]
	if !ok {
		return "", nil, fmt.Errorf("wrstats: unknown backend %q; there are: %s", scheme, known())
	}
	return scheme, open, nil
}

// known lists the schemes.
func known() string { return strings.Join(slices.Sorted(maps.Keys(openers)), ", ") }

var schemePattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)

// schemeOf returns the scheme in lower case.
func schemeOf(rawURL string) (string, error) {
	if rawURL == "" {
		return "", errNoURL
	}
	before, _, colon := strings.Cut(rawURL, ":")
	if !colon || strings.Contains(before, "/") {
		return "", errNoScheme
	}
	if !schemePattern.MatchString(rawURL) {
		return "", errUnparsable
	}
	return strings.ToLower(before), nil
}

// parse is [url.Parse] with an error that quotes nothing.
func parse(rawURL string) (*url.URL, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		scheme, _, _ := strings.Cut(rawURL, ":")
		return nil, fmt.Errorf("wrstats: %s backend URL that can't be parsed; an example is %s", scheme, examples[scheme])
	}
	return u, nil
}
