package faults_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	all "github.com/wrstats/go-wrstats/backends"
	"github.com/wrstats/go-wrstats/internal/servertest"
	"github.com/wrstats/go-wrstats/wrstats"
)

// password must not be in any error either.
const password = "tell-no-one-either"

// everyError counts and reads by a URL, and returns all errors that there are. What takes long to fail, as
// go-redis does, is not waited for.
func everyError(t testing.TB, url string) []error {
	store, err := all.Open(t.Context(), url)
	if err != nil {
		return []error{err}
	}
	stats, err := wrstats.New(store, wrstats.Config{Prefix: secret, Metrics: counted})
	require.NoError(t, err)
	heard := new(errorList)
	w := stats.NewWriter(wrstats.WriterOptions{FlushInterval: time.Millisecond, OnError: heard.add})
	require.NoError(t, w.Add("count", entity(1), 1))
	for _, do := range []func(ctx context.Context) error{
		w.Sync,
		func(ctx context.Context) error { _, err := stats.NewReader().Rates(ctx, queries()); return err },
		func(ctx context.Context) error { return w.Reset(ctx, entity(1)) },
		func(ctx context.Context) error { _ = w.Add("count", entity(1), 1); return w.Close(ctx) },
		func(context.Context) error { return store.Close() },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		heard.add(do(ctx))
		cancel()
	}
	return heard.all()
}

type errorList struct {
	mu   sync.Mutex // guards errs
	errs []error
}

func (l *errorList) add(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.errs = append(l.errs, err)
	}
}

func (l *errorList) all() []error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.errs)
}

// TestErrorsTellNoSecret fails in the ways that have a password in them.
func TestErrorsTellNoSecret(t *testing.T) {
	skipShort(t)
	t.Parallel()
	auth := filepath.Join(servertest.Dir(t), "auth")
	require.NoError(t, os.WriteFile(auth, []byte("writer:right\n"), 0o644))
	memcached := servertest.Memcached(t, "-Y", auth).Addr
	redis := servertest.Redis(t, "--requirepass", "right").Addr
	for _, c := range []struct{ fault, url string }{
		{"wrong password of memcached", "memcached://writer:" + password + "@" + memcached},
		{"wrong user of memcached", "memcached://" + password + ":right@" + memcached},
		{"wrong password of Redis", "redis://:" + password + "@" + redis},
		{"wrong user of Redis", "redis://" + password + ":right@" + redis},
		{"nobody there", "redis://:" + password + "@" + nobody},
		{"nobody there", "redis+cluster://:" + password + "@" + nobody},
		{"nobody there", "redis+sentinel://:" + password + "@" + nobody + "/name?password=" + password},
		{"nobody there", "memcached://writer:" + password + "@" + nobody},
		{"wrong URL", "redis://:" + password + "@h:port"},
		{"wrong URL", "redis://h/?password=" + password + "&nonsense=1"},
		{"wrong URL", "memcached://writer:" + password + "@h:port"},
		{"wrong URL", "memcached://writer:%zz" + password + "@h"},
		{"wrong URL", "memcached://writer:a/" + password + "@h?@"},
	} {
		t.Run(c.fault, func(t *testing.T) {
			t.Parallel()
			errs := everyError(t, c.url)
			require.NotEmpty(t, errs)
			for _, err := range errs {
				require.NotContains(t, err.Error(), password)
				require.NotContains(t, err.Error(), secret)
			}
		})
	}
	results.add(row{scenario: "no error holds a key or a password", backend: "all", verdict: "held"})
}

// TestTLS requires that a server is believed only with a certificate of somebody who is trusted.
func TestTLS(t *testing.T) {
	skipShort(t)
	t.Parallel()
	chain, key := selfSigned(t)
	for _, c := range []struct {
		backend string
		url     string
	}{
		{"memcached", "memcacheds://" + servertest.Memcached(t, "-Z", "-o", "ssl_chain_cert="+chain+",ssl_key="+key).Addr + "/?timeout=30s"}, // it takes its time over the first
		{"Redis", "rediss://" + redisTLS(t, chain, key)},
	} {
		errs, unknown := everyError(t, c.url), 0
		for _, err := range errs {
			if errors.As(err, new(x509.UnknownAuthorityError)) {
				unknown++
			}
		}
		require.GreaterOrEqual(t, unknown, 4, "%s: sync, read, reset and close: %v", c.backend, errs)
		results.add(row{scenario: "a server has a certificate of somebody unknown", backend: c.backend, verdict: "held: refused"})
	}
}

// redisTLS starts a Redis whose only port for clients is one for TLS.
func redisTLS(t testing.TB, chain, key string) (addr string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr = l.Addr().String()
	require.NoError(t, l.Close())
	_, port, _ := net.SplitHostPort(addr)
	servertest.Redis(t, "--tls-port", port, "--tls-cert-file", chain, "--tls-key-file", key, "--tls-ca-cert-file", chain, "--tls-auth-clients", "no")
	return addr
}

// selfSigned makes a certificate for 127.0.0.1 that nobody trusts.
func selfSigned(t testing.TB) (chain, key string) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "wrstats faults"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	require.NoError(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	dir := servertest.Dir(t)
	chain, key = filepath.Join(dir, "chain.pem"), filepath.Join(dir, "key.pem")
	for _, f := range []struct {
		path, kind string
		bytes      []byte
	}{{chain, "CERTIFICATE", cert}, {key, "PRIVATE KEY", secret}} {
		require.NoError(t, os.WriteFile(f.path, pem.EncodeToMemory(&pem.Block{Type: f.kind, Bytes: f.bytes}), 0o644))
	}
	return chain, key
}
