/**
 * The hello program (src/demo/hello-program.ts) for a container: the same answers and the same counter of starts, in a
 * shell. It is the container's first process and so gets no signal that it has no trap for.
 */
export const helloScript = (version: string): string => `#!/bin/sh
# One container is started again as the same instance: the line tells the starts of one instance apart.
instance="\${FAIRLEAD_INSTANCE_ID:-found}"
if [ -n "$COUNTER_FILE" ]; then
  n=$(busybox grep -c "^$instance#" "$COUNTER_FILE" 2>/dev/null)
  echo "$instance#$((\${n:-0} + 1)) ${version}" >> "$COUNTER_FILE"
fi
[ "$CRASH" = start ] && exit 7
[ "$CRASH" = later ] && busybox sleep 1 && exit 7
busybox mkdir -p /tmp/www
echo "{\\"version\\":\\"${version}\\",\\"instance_id\\":\\"$instance\\",\\"pid\\":$$}" > /tmp/www/version
echo '{"status":"ok","sync_status":"synced"}' > /tmp/www/healthz
trap 'exit 0' TERM
busybox httpd -f -p "127.0.0.1:$PORT" -h /tmp/www &
wait
`;
