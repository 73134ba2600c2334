package redis_test

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/alicebob/miniredis/v2"
	goredis "github.com/redis/go-redis/v9"

	"github.com/wrstats/go-wrstats/backends/redis"
	"github.com/wrstats/go-wrstats/wrstats"
)

func Example() {
	server, err := miniredis.Run() // in place of a Redis
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	client := goredis.NewClient(&goredis.Options{Addr: server.Addr()})
	defer client.Close()

	ctx := context.Background()
	store := redis.New(client, redis.Options{})
	defer store.Close()
	receipt, err := store.Incr(ctx, []wrstats.Increment{
		{Key: "local:web:hits::4901:route:home", Delta: 2, TTL: time.Hour},
		{Key: "local:web:hits::4901:route:home", Delta: 3, TTL: time.Hour},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	lost, err := receipt.Wait(ctx)
	fmt.Println(lost, err)
	values, err := store.Get(ctx, []string{"local:web:hits::4901:route:home", "local:web:hits::4901:route:about"})
	fmt.Println(values, err)
	// Output:
	// 0 <nil>
	// [{5 true} {0 false}] <nil>
}

func ExampleOpen() {
	server, err := miniredis.Run()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()

	ctx := context.Background()
	u, err := url.Parse("redis://" + server.Addr() + "/2?read_timeout=5s")
	if err != nil {
		fmt.Println(err)
		return
	}
	store, err := redis.Open(ctx, u)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close() // and its client
	values, err := store.Get(ctx, []string{"local:web:hits::4901:route:home"})
	fmt.Println(values, err)

	_, err = redis.Open(ctx, &url.URL{Scheme: "redis", Host: "127.0.0.1", RawQuery: "read_timout=5s"})
	fmt.Println(err)
	// Output:
	// [{0 false}] <nil>
	// wrstats: redis backend URL: parameter: "read_timout" is none
}

func ExampleStore_Close() {
	client := goredis.NewClient(&goredis.Options{Addr: "127.0.0.1:6379"})
	defer client.Close() // which the Store does not
	store := redis.New(client, redis.Options{})
	fmt.Println(store.Close(), store.Close())
	_, err := store.Get(context.Background(), []string{"a"})
	fmt.Println(err)
	// Output:
	// <nil> <nil>
	// wrstats: redis: wrstats: closed
}

// A client of the caller's that holds what servers send to what a Store can ask for, as that of Open does.
func ExampleLimitReplies() {
	server, err := miniredis.Run()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	d := &net.Dialer{Timeout: 5 * time.Second}
	client := goredis.NewClient(&goredis.Options{Addr: server.Addr(), Dialer: redis.LimitReplies(d.DialContext)})
	defer client.Close()

	store := redis.New(client, redis.Options{})
	defer store.Close()
	values, err := store.Get(context.Background(), []string{"local:web:hits::4901:route:home"})
	fmt.Println(values, err)
	// Output: [{0 false}] <nil>
}

// What a server refuses is lost, and the Receipt says so; the rest of the batch counts.
func ExampleStore_Incr() {
	server, err := miniredis.Run()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	client := goredis.NewClient(&goredis.Options{Addr: server.Addr()})
	defer client.Close()

	ctx := context.Background()
	_ = server.Set("a", "no number")
	store := redis.New(client, redis.Options{})
	defer store.Close()
	receipt, _ := store.Incr(ctx, []wrstats.Increment{
		{Key: "a", Delta: 7, TTL: time.Hour},
		{Key: "b", Delta: 1, TTL: time.Hour},
	})
	lost, err := receipt.Wait(ctx)
	fmt.Println(lost, store.Stats().Errors)
	values, err := store.Get(ctx, []string{"a", "b"})
	fmt.Println(values, err)
	// Output:
	// 7 map[not a number:1]
	// [{0 false} {1 true}] <nil>
}
