package faults_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/wrstats/go-wrstats/internal/servertest"
)

// A record is what a server holds under a key.
type record struct {
	key     string
	n       int64
	endless bool // the key has no end
}

// dump reads all records of a prefix off a server, past the library and its client.
func (s *site) dump(t testing.TB, server *servertest.Server, prefix string) []record {
	t.Helper()
	dump := dumpMemcached
	if s.speaksRedis() {
		dump = dumpRedis
	}
	var records []record
	var err error
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if records, err = dump(server.Addr, prefix); err == nil {
			return records
		}
	}
	require.NoError(t, err, "%s can't be dumped", server.Addr)
	return nil
}

// dumpMemcached lists the keys, and asks for each value and what is left of its life.
func dumpMemcached(addr, prefix string) (records []record, err error) {
	conn, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	lines := bufio.NewScanner(bufio.NewReaderSize(conn, 1<<20))
	fmt.Fprint(conn, "lru_crawler metadump hash\r\n")
	var keys []string
	for lines.Scan() && lines.Text() != "END" {
		escaped, _, _ := strings.Cut(strings.TrimPrefix(lines.Text(), "key="), " ")
		key, err := url.PathUnescape(escaped)
		if err != nil || !strings.HasPrefix(lines.Text(), "key=") {
			return nil, fmt.Errorf("metadump: %s", lines.Text())
		}
		if strings.Contains(key, ":"+prefix+":") {
			keys = append(keys, key)
		}
	}
	go func() { // which the end of the connection ends
		requests := bufio.NewWriter(conn)
		for _, key := range keys {
			fmt.Fprintf(requests, "mg %s v t\r\n", key)
		}
		requests.Flush()
	}()
	for _, key := range keys {
		if !lines.Scan() {
			return nil, fmt.Errorf("mg: %w", lines.Err())
		}
		if lines.Text() == "EN" { // it has ended or was evicted meanwhile
			continue
		}
		ttl := lines.Text()[strings.LastIndexByte(lines.Text(), 't')+1:]
		lines.Scan()
		n, err := strconv.ParseInt(strings.TrimRight(lines.Text(), " "), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("mg: %q: %w", lines.Text(), err)
		}
		records = append(records, record{key, n, ttl == "-1"})
	}
	return records, lines.Err()
}

func dumpRedis(addr, prefix string) (records []record, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	client := goredis.NewClient(&goredis.Options{Addr: addr, ReadTimeout: patience})
	defer client.Close()
	var keys []string
	scan := client.Scan(ctx, 0, "*:"+prefix+":*", 10_000).Iterator()
	for scan.Next(ctx) {
		keys = append(keys, scan.Val())
	}
	if err := scan.Err(); err != nil {
		return nil, err
	}
	pipe := client.Pipeline()
	var values []*goredis.StringCmd
	var ttls []*goredis.DurationCmd
	for _, key := range keys {
		values, ttls = append(values, pipe.Get(ctx, key)), append(ttls, pipe.TTL(ctx, key))
	}
	_, _ = pipe.Exec(ctx) // each command has its own error
	seen := make(map[string]bool)
	for i, value := range values {
		n, err := value.Int64()
		if err == goredis.Nil || seen[keys[i]] {
			continue
		}
		if err != nil {
			return nil, err
		}
		seen[keys[i]] = true
		records = append(records, record{keys[i], n, ttls[i].Val() == -1})
	}
	return records, nil
}
