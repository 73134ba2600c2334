package redis

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// Schemes are those of the URLs that [Open] takes.
func Schemes() []string {
	return []string{
		"redis", "rediss", "redis+unix",
		"redis+cluster", "rediss+cluster", "redis+sentinel", "rediss+sentinel",
	}
}

// Open returns a Store with a client of its own, which its Close closes. It dials nobody.
//
//	redis://user:password@host:6379/2              database 2 of one server
//	redis+unix://user:password@/run/redis.sock?db=2
//	redis+cluster://user:password@a:6379,b:6379    a Cluster, found by any of these nodes
//	redis+sentinel://a:26379,b:26379/name/2        the primary that Sentinels know as name
//
// With rediss in place of redis TLS is spoken. Parameters are those of [goredis.ParseURL],
// [goredis.ParseClusterURL] and [goredis.ParseFailoverURL], such as read_timeout=500ms, pool_size=20 and
// skip_verify=true. User and password of a redis+sentinel URL are the Sentinels', as in go-redis; the
// servers' are the parameters username and password.
//
// The client's connections have the limits of [LimitReplies].
//
// An error names the part that is wrong, and holds no user, no password and no value.
func Open(ctx context.Context, u *url.URL) (*Store, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	client, err := dialer(u)
	if err != nil {
		return nil, fmt.Errorf("wrstats: %s backend URL: %w", scheme(u), err)
	}
	s := New(client, Options{})
	s.owned = client
	return s, nil
}

// scheme returns the URL's if it is one of Open's: else it may be anything.
func scheme(u *url.URL) string {
	if slices.Contains(Schemes(), u.Scheme) {
		return u.Scheme
	}
	return "redis"
}

// dialer makes the client.
func dialer(u *url.URL) (goredis.UniversalClient, error) {
	if err := checkURL(u); err != nil {
		return nil, err
	}
	protocol, kind, _ := strings.Cut(u.Scheme, "+")
	plain := *u
	plain.Scheme = protocol
	switch kind {
	case "":
		return single(&plain)
	case "unix":
		plain.Scheme = "unix"
		return single(&plain)
	case "cluster":
		return cluster(&plain)
	}
	return sentinel(&plain)
}

// checkURL refuses what go-redis would take for something else.
func checkURL(u *url.URL) error {
	_, kind, _ := strings.Cut(u.Scheme, "+")
	switch {
	case !slices.Contains(Schemes(), u.Scheme):
		return errors.New("unknown scheme")
	case strings.Contains(u.Path+u.Opaque+u.Fragment, "@"):
		return errors.New("user or password: to be escaped as in any URL")
	case u.Opaque != "":
		return errors.New("no // after the scheme")
	case u.Fragment != "":
		return errors.New("fragment: none is taken")
	case u.Host == "" && kind != "unix":
		return errors.New("host: none")
	case u.Host != "" && kind == "unix":
		return errors.New("host: a socket has none; its path begins with /")
	case kind == "cluster" && strings.Trim(u.Path, "/") != "":
		return errors.New("path: a Cluster has no databases")
	}
	q, err := url.ParseQuery(u.RawQuery)
	for name := range q {
		if strings.Contains(name, "@") {
			return errors.New("user or password: to be escaped as in any URL")
		}
	}
	if err != nil {
		return errors.New("parameters: can't be parsed")
	}
	return checkConns(q)
}

// maxConns is the largest number of connections in a URL.
const maxConns = 10_000

// checkConns refuses numbers that go-redis would make room for at once: of some it dies.
func checkConns(q url.Values) error {
	for _, name := range []string{"pool_size", "min_idle_conns", "max_idle_conns", "max_active_conns", "max_concurrent_dials"} {
		for _, value := range q[name] {
			if n, err := strconv.Atoi(value); err == nil && n > maxConns {
				return fmt.Errorf("parameter: %q: over %d", name, maxConns)
			}
		}
	}
	return nil
}

func single(u *url.URL) (goredis.UniversalClient, error) {
	if u.Scheme != "unix" {
		if err := checkHosts(u, 1); err != nil {
			return nil, err
		}
	}
	options, err := goredis.ParseURL(u.String())
	if err != nil {
		return nil, named(err)
	}
	options.Dialer = limited(options.DialTimeout, options.TLSConfig)
	return goredis.NewClient(options), nil
}

func cluster(u *url.URL) (goredis.UniversalClient, error) {
	if err := spreadHosts(u, "6379"); err != nil {
		return nil, err
	}
	options, err := goredis.ParseClusterURL(u.String())
	if err != nil {
		return nil, named(err)
	}
	options.Dialer = limited(options.DialTimeout, options.TLSConfig)
	return goredis.NewClusterClient(options), nil
}

func sentinel(u *url.URL) (goredis.UniversalClient, error) {
	if err := spreadHosts(u, "26379"); err != nil {
		return nil, err
	}
	name, database, _ := strings.Cut(strings.Trim(u.Path, "/"), "/")
	if name == "" {
		return nil, errors.New("path: no name of a primary")
	}
	q := u.Query()
	if q.Has("route_by_latency") || q.Has("route_randomly") || q.Has("replica_only") {
		return nil, errors.New("parameter: counters are written to the primary, and read from it")
	}
	q.Set("master_name", name)
	u.Path, u.RawPath, u.RawQuery = "/"+database, "", q.Encode()
	options, err := goredis.ParseFailoverURL(u.String())
	if err != nil {
		return nil, named(err)
	}
	options.Dialer = limited(options.DialTimeout, options.TLSConfig)
	return goredis.NewFailoverClient(options), nil
}

// limited makes the Dialer that go-redis would make, with limits.
func limited(timeout time.Duration, config *tls.Config) Dialer {
	const dialTimeout, keepAlive = 5 * time.Second, 5 * time.Minute // go-redis's own
	d := &net.Dialer{Timeout: cmp.Or(timeout, dialTimeout), KeepAlive: keepAlive}
	if config == nil {
		return LimitReplies(d.DialContext)
	}
	return LimitReplies((&tls.Dialer{NetDialer: d, Config: config}).DialContext)
}

// spreadHosts writes the second host and those that follow as parameters, which is how go-redis wants them.
func spreadHosts(u *url.URL, port string) error {
	if err := checkHosts(u, 1000); err != nil {
		return err
	}
	q := u.Query()
	hosts := strings.Split(u.Host, ",")
	for i, host := range hosts {
		if _, _, err := net.SplitHostPort(host); err != nil {
			hosts[i] = net.JoinHostPort(strings.Trim(host, "[]"), port)
		}
		if i > 0 {
			q.Add("addr", hosts[i])
		}
	}
	u.Host, u.RawQuery = hosts[0], q.Encode()
	return nil
}

func checkHosts(u *url.URL, most int) error {
	hosts := strings.Split(u.Host, ",")
	if len(hosts) > most {
		return errors.New("host: several, which redis+cluster and redis+sentinel take")
	}
	for _, host := range hosts {
		if strings.Trim(host, ":[]") == "" || strings.HasPrefix(host, ":") {
			return errors.New("host: one is empty")
		}
	}
	return nil
}

var (
	unknownParameter = regexp.MustCompile(`^redis: unexpected option: (\S+?)(,|$)`)
	wrongParameter   = regexp.MustCompile(`^redis: invalid (\w+) (number|duration|boolean)`)
)

// named says what go-redis says of a URL, without what it quotes.
func named(err error) error {
	if m := unknownParameter.FindStringSubmatch(err.Error()); m != nil {
		return fmt.Errorf("parameter: %q is none", m[1])
	}
	if m := wrongParameter.FindStringSubmatch(err.Error()); m != nil {
		if m[1] == "database" {
			return errors.New("database: not a number")
		}
		return fmt.Errorf("parameter: %q: not a %s", m[1], m[2])
	}
	switch {
	case strings.Contains(err.Error(), "invalid URL path"):
		return errors.New("path: more than a database")
	case strings.Contains(err.Error(), "addr param"):
		return errors.New("host: one is not host:port")
	}
	return errors.New("can't be parsed")
}
