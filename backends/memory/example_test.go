package memory_test

import (
	"context"
	"fmt"
	"time"

	"github.com/wrstats/go-wrstats/backends/memory"
	"github.com/wrstats/go-wrstats/wrstats"
)

func Example() {
	ctx := context.Background()
	store := memory.New(memory.Options{})
	defer store.Close()
	_, err := store.Incr(ctx, []wrstats.Increment{
		{Key: "local:web:hits::4901:route:home", Delta: 2, TTL: time.Hour},
		{Key: "local:web:hits::4901:route:home", Delta: 3, TTL: time.Hour},
	})
	if err != nil {
		fmt.Println(err)
	}
	values, err := store.Get(ctx, []string{"local:web:hits::4901:route:home", "local:web:hits::4901:route:about"})
	fmt.Println(values, err)
	// Output: [{5 true} {0 false}] <nil>
}

// A counter does not wrap. What would take it past 2^63-1 is refused, and the Receipt says so.
func ExampleStore_Incr() {
	ctx := context.Background()
	store := memory.New(memory.Options{})
	defer store.Close()
	receipt, _ := store.Incr(ctx, []wrstats.Increment{
		{Key: "a", Delta: 1<<63 - 1, TTL: time.Hour},
		{Key: "a", Delta: 7, TTL: time.Hour},
	})
	lost, err := receipt.Wait(ctx)
	fmt.Println(lost, err)
	// Output: 7 wrstats: memory: counter past 2^63-1
}

func ExampleStore_Delete() {
	ctx := context.Background()
	store := memory.New(memory.Options{})
	defer store.Close()
	_, _ = store.Incr(ctx, []wrstats.Increment{{Key: "a", Delta: 1, TTL: time.Hour}})
	err := store.Delete(ctx, []string{"a", "absent"})
	values, _ := store.Get(ctx, []string{"a"})
	fmt.Println(values, err)
	// Output: [{0 false}] <nil>
}

func ExampleStore_Close() {
	store := memory.New(memory.Options{})
	fmt.Println(store.Close(), store.Close())
	_, err := store.Get(context.Background(), []string{"a"})
	fmt.Println(err)
	// Output:
	// <nil> <nil>
	// wrstats: closed
}
