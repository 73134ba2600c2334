package redis_test

import (
	"context"
	"fmt"
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
