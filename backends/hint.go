package backends

import (
	"regexp"
	"strings"
)

// examples are URLs that can be parsed, by scheme.
var examples = map[string]string{
	"memory":          "memory:",
	"memcached":       "memcached://localhost:11211",
	"memcacheds":      "memcacheds://localhost:11211",
	"redis":           "redis://localhost:6379",
	"rediss":          "rediss://localhost:6379",
	"redis+unix":      "redis+unix:///run/redis.sock",
	"redis+cluster":   "redis+cluster://localhost:6379",
	"rediss+cluster":  "rediss+cluster://localhost:6379",
	"redis+sentinel":  "redis+sentinel://localhost:26379/primary",
	"rediss+sentinel": "rediss+sentinel://localhost:26379/primary",
}

// usualPorts tell the backend of a server that is given without a scheme.
var usualPorts = map[string]string{"11211": "memcached", "6379": "redis"}

var serverPattern = regexp.MustCompile(`^([A-Za-z0-9.-]*|\[[0-9A-Fa-f:.]+\]):([0-9]+)$`)

// meant guesses the URL that was meant by a scheme alone, or a server alone at a usual port, or returns "".
// It repeats no more than a host and such a port: any other number may be a password.
func meant(rawURL string) string {
	if example, ok := examples[strings.ToLower(rawURL)]; ok {
		return example
	}
	server := serverPattern.FindStringSubmatch(rawURL)
	if server == nil || usualPorts[server[2]] == "" {
		return ""
	}
	host := server[1]
	if host == "" {
		host = "localhost"
	}
	return usualPorts[server[2]] + "://" + host + ":" + server[2]
}
