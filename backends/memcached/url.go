package memcached

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// ParseURL returns the Config that a URL spells, which New checks:
//
//	memcached://user:password@host:11211,host2,[v6]:11211/?timeout=250ms&protocol=auto&route=/region/cluster/
//	memcached:///run/a.sock,/run/b.sock
//	memcacheds://host                           over TLS
//
// Parameters, each once at most, are timeout ([Config.Timeout]), protocol (auto, text or meta), route
// ([Config.RoutePrefix]), hash (crc32, the default, or ketama: [CRC32], [Ketama]) and conns
// ([Config.MaxReadConns]). Whatever is wrong is an error that names it, and never holds the password.
func ParseURL(rawURL string) (Config, error) {
	config, err := parseURL(rawURL)
	if err != nil {
		return Config{}, fmt.Errorf("wrstats: memcached: URL: %w", err)
	}
	return config, nil
}

// Open returns a Store on the servers of a URL: [ParseURL] and [New].
func Open(rawURL string) (*Store, error) {
	config, err := ParseURL(rawURL)
	if err != nil {
		return nil, err
	}
	return New(config)
}

func parseURL(rawURL string) (config Config, err error) {
	scheme, rest, _ := strings.Cut(rawURL, "://")
	switch scheme {
	case "memcached":
	case "memcacheds":
		config.TLS = new(tls.Config)
	default:
		return config, errors.New("scheme is neither memcached:// nor memcacheds://")
	}
	place, query, _ := strings.Cut(rest, "?")
	if strings.ContainsAny(query, "@#") || strings.Contains(place, "#") { // which may be a part of the password
		return config, errors.New("has an @ or # that is not escaped")
	}
	if place, err = config.setLogin(place); err != nil {
		return config, err
	}
	if err := config.setServers(place); err != nil {
		return config, err
	}
	return config, config.setParameters(query)
}

// setLogin cuts user:password@ off.
func (c *Config) setLogin(place string) (rest string, err error) {
	at := strings.LastIndexByte(place, '@')
	if at < 0 {
		return place, nil
	}
	user, password, _ := strings.Cut(place[:at], ":")
	if c.Username, err = url.PathUnescape(user); err != nil {
		return "", errors.New("user is not escaped as it should be")
	}
	if c.Password, err = url.PathUnescape(password); err != nil {
		return "", errors.New("password is not escaped as it should be")
	}
	return place[at+1:], nil
}

// setServers reads hosts, or the paths of sockets when there are none.
func (c *Config) setServers(place string) error {
	if !strings.HasPrefix(place, "/") {
		var path string
		place, path, _ = strings.Cut(place, "/")
		if path != "" {
			return errors.New("has a path behind the hosts")
		}
	}
	if place == "" || place == "/" {
		return errors.New("has no servers")
	}
	for i, server := range strings.Split(place, ",") {
		server, err := url.PathUnescape(server)
		if err != nil {
			return fmt.Errorf("server number %d is not escaped as it should be", i+1)
		}
		if _, err := parseAddress(server); err != nil {
			return fmt.Errorf("server number %d: %w", i+1, err)
		}
		c.Servers = append(c.Servers, server)
	}
	return nil
}

func (c *Config) setParameters(query string) error {
	values, err := url.ParseQuery(query)
	if err != nil {
		return errors.New("parameters are not escaped as they should be")
	}
	for name, value := range values {
		set, known := parameters[name]
		switch {
		case !known:
			return fmt.Errorf("parameter %q is unknown", name)
		case len(value) > 1:
			return fmt.Errorf("parameter %q is there twice", name)
		}
		if err := set(c, value[0]); err != nil {
			return fmt.Errorf("parameter %q: %w", name, err)
		}
	}
	return nil
}

var parameters = map[string]func(c *Config, value string) error{
	"timeout":  setTimeout,
	"protocol": setProtocol,
	"route":    setRoute,
	"hash":     setHash,
	"conns":    setConns,
}

func setTimeout(c *Config, value string) (err error) {
	c.Timeout, err = time.ParseDuration(value)
	if err == nil && c.Timeout <= 0 {
		err = fmt.Errorf("%v is not over 0", c.Timeout)
	}
	return err
}

func setProtocol(c *Config, value string) error {
	switch value {
	case "auto":
		c.Protocol = Auto
	case "text":
		c.Protocol = Text
	case "meta":
		c.Protocol = Meta
	default:
		return fmt.Errorf("%q is not auto, text or meta", value)
	}
	return nil
}

func setRoute(c *Config, value string) error {
	c.RoutePrefix = value
	return c.checkRoutePrefix()
}

func setHash(c *Config, value string) error {
	switch value {
	case "crc32":
		c.Selector = CRC32(c.Servers...)
	case "ketama":
		c.Selector = Ketama(c.Servers...)
	default:
		return fmt.Errorf("%q is not crc32 or ketama", value)
	}
	c.Servers = nil
	return nil
}

func setConns(c *Config, value string) (err error) {
	c.MaxReadConns, err = strconv.Atoi(value)
	if err != nil || c.MaxReadConns < 1 {
		return fmt.Errorf("%q is not a number over 0", value)
	}
	return nil
}
