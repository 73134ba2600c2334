package memcached_test

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/wrstats/go-wrstats/backends/memcached"
	"github.com/wrstats/go-wrstats/wrstats"
)

// server stands for a memcached that runs somewhere.
func server() string { return newFake(exampleTB{}, nil).addr }

// exampleTB lets an example use what tests use.
type exampleTB struct{ testing.TB }

func (exampleTB) Helper()               {}
func (exampleTB) Cleanup(func())        {}
func (exampleTB) FailNow()              { panic("example failed") }
func (exampleTB) Errorf(string, ...any) {}

func Example() {
	store, err := memcached.New(memcached.Config{
		Servers: []string{server()},
		Timeout: 5 * time.Second,
		OnError: func(err error) { fmt.Println("counting:", err) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()

	ctx := context.Background()
	receipt, err := store.Incr(ctx, []wrstats.Increment{
		{Key: "hits:a", Delta: 3, TTL: time.Hour},
		{Key: "hits:b", Delta: 4, TTL: time.Hour},
	})
	if err != nil {
		fmt.Println(err) // and what was not sent is in a wrstats.NotSentError
		return
	}
	lost, err := receipt.Wait(ctx)
	fmt.Println("lost:", lost, err)

	values, err := store.Get(ctx, []string{"hits:a", "hits:b", "hits:c"})
	fmt.Println(values, err)
	// Output:
	// lost: 0 <nil>
	// [{3 true} {4 true} {0 false}] <nil>
}

func ExampleParseURL() {
	config, err := memcached.ParseURL("memcached://a:11211,b:11211/?timeout=100ms&protocol=meta")
	fmt.Println(config.Servers, config.Timeout, config.Protocol == memcached.Meta, err)

	_, err = memcached.ParseURL("memcached://a:11211?timeout=100")
	fmt.Println(err)
	// Output:
	// [a:11211 b:11211] 100ms true <nil>
	// wrstats: memcached: URL: parameter "timeout": time: missing unit in duration "100"
}

// Where a Store with these Servers keeps a counter, however they are ordered. A client of gomemcache's that
// is made with memcache.NewFromSelector(selector) finds it there.
func ExampleCRC32() {
	selector := memcached.CRC32("10.0.0.3:11211", "10.0.0.1:11211", "10.0.0.2:11211")
	addr, err := selector.PickServer("hits:b")
	fmt.Println(addr, err)
	addr, err = memcached.CRC32("10.0.0.1:11211", "10.0.0.2:11211", "10.0.0.3:11211").PickServer("hits:b")
	fmt.Println(addr, err)
	// Output:
	// 10.0.0.2:11211 <nil>
	// 10.0.0.2:11211 <nil>
}

func ExampleKetama() {
	selector := memcached.Ketama("10.0.0.1:11211", "10.0.0.2:11211", "10.0.0.3:11211")
	addr, err := selector.PickServer("hits:a")
	fmt.Println(addr, err)
	// Output: 10.0.0.3:11211 <nil>
}

// A custom dialer, here one that keeps to IPv4.
func ExampleConfig_dialContext() {
	store, err := memcached.New(memcached.Config{
		Servers: []string{"cache.example.net"},
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "tcp4", address)
		},
	})
	fmt.Println(err, store.Close())
	// Output: <nil> <nil>
}

// A nil Receipt says that all of the batch has been applied: here there was nothing in it.
func ExampleStore_Incr() {
	store, err := memcached.Open("memcached://" + server())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	receipt, err := store.Incr(context.Background(), nil)
	fmt.Println(receipt, err)
	// Output: <nil> <nil>
}

func ExampleStore_Close() {
	store, err := memcached.New(memcached.Config{Servers: []string{"127.0.0.1:11211"}}) // dials nobody
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(store.Close(), store.Close())
	_, err = store.Get(context.Background(), []string{"a"})
	fmt.Println(err)
	// Output:
	// <nil> <nil>
	// wrstats: memcached: wrstats: closed
}
