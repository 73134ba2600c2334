package main

import (
	"bytes"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

func TestOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where no window ends meanwhile
		var out bytes.Buffer
		require.NoError(t, run(t.Context(), &out))
		require.Equal(t, "3 requests in the last hour, 20 ms each; nothing in 6 of its 7 windows\n", out.String())
	})
}
