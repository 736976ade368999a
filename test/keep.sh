#!/bin/sh
# keep.sh DIR SIGNAL COMMAND...: runs a server for as long as somebody holds our standard input open.
#
# Prints the server's process id, then waits.  When standard input ends, because the holder closed
# it or because the holder died in whatever way, the server is stopped by that id and DIR, which is
# its data, is removed.  This is how no server outlives an interrupted test run.
dir=$1
signal=$2
shift 2
trap '' INT HUP TERM

"$@" </dev/null >"$dir/log" 2>&1 &
pid=$!
echo "$pid"
exec >&-
while read -r _; do :; done

# A server that ignores it for 10 seconds is killed.
kill -s "$signal" "$pid" 2>/dev/null
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  kill -0 "$pid" 2>/dev/null || break
  sleep 0.1
done
for _ in 1 2 3 4 5 6 7 8; do
  kill -0 "$pid" 2>/dev/null || break
  sleep 1
done
kill -KILL "$pid" 2>/dev/null
wait "$pid" 2>/dev/null
rm -rf "$dir"
