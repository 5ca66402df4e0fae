# Makes a machine of its own out of this one: `unshare -mpf --kill-child bash namespace.sh PROGRAM...` (as root).
# /etc, /opt and /var are changed in memory only, /tmp, /run and /dev/shm are empty, everything else is read-only.
set -eu
mount --make-rprivate /
mount -t tmpfs tmpfs /run
for folder in etc opt var; do
    mkdir -p /run/upper/$folder /run/work/$folder
    mount -t overlay overlay -o "lowerdir=/$folder,upperdir=/run/upper/$folder,workdir=/run/work/$folder" /$folder
done
for folder in /tmp /dev/shm; do mount -t tmpfs tmpfs $folder; done
mount -t proc proc /proc
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mkdir -p "/sys/fs/cgroup/$GROUP/init"
echo $$ > "/sys/fs/cgroup/$GROUP/init/cgroup.procs"
mount -o remount,ro,bind /
for folder in / /usr /root "$PROJECT"; do
    if touch "$folder/.writable" 2>/dev/null; then rm "$folder/.writable"; echo "$folder is writable" >&2; exit 1; fi
done
mount --make-rshared /          # as systemd has it at boot: credentials are mounted by a helper process
exec "$@"
