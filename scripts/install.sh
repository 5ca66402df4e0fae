#!/bin/sh
# Installs talkover as a systemd service; everything it makes is named below, nothing else is touched.
#   install.sh install              own environment /opt/talkover/VERSION, `current` points at it; state and settings stay
#   install.sh rollback             back to the version that was current before; once more: forward again
#   install.sh uninstall [--purge]  settings (/etc/talkover) and state (/var/lib/talkover) stay unless --purge
#   install.sh watchdog [off]       lets systemd feed the machine's own watchdog
# EXTRAS=sim,reachy,pi   optional parts (setup.cfg); `sim` is needed for the simulated body
# DESTDIR=FOLDER         all paths below FOLDER; no user, no systemctl, no Debian packages: for packagers and tests
set -eu
umask 022
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
here=$(cd "$(dirname "$0")" && pwd)
extras=${EXTRAS-sim,reachy}
root=${DESTDIR:-}
opt=$root/opt/talkover
etc=$root/etc/talkover
state=$root/var/lib/talkover
cache=$root/var/cache/talkover
unit=$root/etc/systemd/system/talkover.service
rules=$root/etc/udev/rules.d/70-talkover.rules
watchdog=$root/etc/systemd/system.conf.d/50-talkover-watchdog.conf

fail() { echo "install.sh: $1" >&2; exit "${2:-1}"; }
host() { [ -z "$root" ]; }                                    # false: a folder, the machine is left alone
service() { ! host || [ ! -d /run/systemd/system ] || systemctl "$@"; }
target() { [ -L "$1" ] && readlink "$1" || true; }

# put FILE PATH MODE: a whole file or none, also when the power fails in between
put() {
    mkdir -p "$(dirname "$2")"
    cp "$1" "$2.part"
    chmod "$3" "$2.part"
    sync "$2.part"
    mv -T "$2.part" "$2"
}

point() {                                                     # point NAME VERSION: a link that is never missing
    ln -s "$2" "$opt/.$1.part"
    mv -T "$opt/.$1.part" "$opt/$1"
}

switch() {                                                    # switch VERSION
    before=$(target "$opt/current")
    point current "$1"
    [ -z "$before" ] || [ "$before" = "$1" ] || point previous "$before"
    put "$opt/current/unit/talkover.service" "$unit" 644
    put "$opt/current/unit/70-talkover.rules" "$rules" 644
    service daemon-reload
    if host && command -v udevadm >/dev/null 2>&1 && [ -S /run/udev/control ]; then
        udevadm control --reload
        udevadm trigger --subsystem-match=usb --subsystem-match=tty --subsystem-match=video4linux
    fi
}

version() {
    cd "$here/.."
    number=$(sed -n 's/^version = //p' setup.cfg)
    mark=$( { echo "$extras"; find robot dialogue perception motion firmware_bridge calibration docs scripts \
              setup.cfg constraints.txt -type f ! -name '*.pyc' | LC_ALL=C sort | xargs sha256sum; } | sha256sum | cut -c1-8)
    echo "$number-$mark"
}

build() {                                                     # build VERSION: an environment, whole or not at all
    part=$opt/.$1.part
    copy=$(mktemp -d)
    trap 'rm -rf "$copy" "$part" "$opt"/.*.part' EXIT
    trap 'exit 1' HUP INT TERM
    rm -rf "$part"
    mkdir -p "$opt"
    echo "installing talkover $1 into $opt: about 1.1 GB, some minutes"
    (cd "$here/.." && tar -cf - --exclude=__pycache__ --exclude='*.egg-info' robot dialogue perception motion \
        firmware_bridge calibration setup.cfg pyproject.toml README.md LICENSE THIRD_PARTY.md) | tar -C "$copy" -xf -
    if [ -n "${INSTALL_PIP:-}" ]; then                        # tests: no network, no ten minutes
        "$python" -m venv --without-pip "$part"
        VIRTUAL_ENV=$part $INSTALL_PIP install "$copy[$extras]"
    else
        "$python" -m venv "$part"
        "$part/bin/python" -m pip install -q --disable-pip-version-check --no-cache-dir -c "$here/../constraints.txt" \
            "$copy[$extras]"
    fi
    grep -rlIF "$part" "$part/bin" | xargs -r sed -i "s#$part#/opt/talkover/$1#g"
    cp -R "$here/../robot/service/unit" "$part/unit"
    cp -R "$here/../docs" "$part/docs"
    cp "$here/install.sh" "$part/install.sh"
    "$part/bin/python" -P -m robot config --default > "$part/talkover.toml"
    sync -f "$part"
    mv -T "$part" "$opt/$1"
}

settle() {                                                    # settle VERSION: folders, settings and user
    mkdir -p "$etc/credentials" "$state" "$cache"
    chmod 700 "$etc/credentials"
    chmod 750 "$etc" "$state" "$cache"
    if host; then
        getent passwd talkover >/dev/null || useradd --system --user-group --no-create-home \
            --home-dir /var/lib/talkover --shell /usr/sbin/nologin talkover
        chown talkover:talkover "$state" "$cache"
        chown root:talkover "$etc"
    fi
    put "$opt/$1/talkover.toml" "$etc/talkover.toml.default" 644
    [ -e "$etc/talkover.toml" ] || put "$opt/$1/talkover.toml" "$etc/talkover.toml" 640
    if host; then chown root:talkover "$etc/talkover.toml"; fi
}

do_install() {
    python=${INSTALL_PYTHON:-}
    if host; then . "$here/debian.sh"; fi
    [ -n "$python" ] || python=python3
    new=$(version)
    [ -d "$opt/$new" ] || build "$new"
    if [ -e "$etc/talkover.toml" ]; then
        env -i PATH="$PATH" "$opt/$new/bin/python" -P -m robot config --check "$etc/talkover.toml" >/dev/null ||
            fail "this version refuses the settings above; nothing was changed. Mend them and install again"
    fi
    settle "$new"
    switch "$new"
    for folder in "$opt"/*-*; do                              # two versions stay: the current one and the one before
        case $(basename "$folder") in
            "$(target "$opt/current")" | "$(target "$opt/previous")") ;;
            *) rm -rf "$folder" ;;
        esac
    done
    service enable --quiet talkover
    service try-restart talkover
    echo "talkover $new is installed. Its settings are in /etc/talkover/talkover.toml; as long as [run] body is not set"
    echo "there, it lives in a simulated room. Next:"
    echo "    sudo /opt/talkover/current/bin/talkover doctor --config /etc/talkover/talkover.toml"
    echo "    sudo systemctl start talkover"
    echo "    systemctl status talkover"
}

do_rollback() {
    old=$(target "$opt/previous")
    [ -n "$old" ] && [ -d "$opt/$old" ] || fail "there is no version before this one"
    if [ -e "$etc/talkover.toml" ]; then
        "$opt/$old/bin/python" -P -m robot config --check "$etc/talkover.toml" >/dev/null ||
            echo "install.sh: talkover $old refuses these settings, mend them before it starts" >&2
    fi
    switch "$old"
    put "$opt/current/talkover.toml" "$etc/talkover.toml.default" 644
    service try-restart talkover
    echo "talkover $old is current again"
}

do_uninstall() {
    if [ -e "$unit" ]; then
        service stop talkover || ! service is-active --quiet talkover || fail "the service does not stop; nothing is removed"
        service disable --quiet talkover || echo "install.sh: systemd could not disable the service; going on" >&2
    fi
    rm -f "$unit" "$rules" "$watchdog"
    service daemon-reload
    rm -rf "$opt" "$cache" "$etc/talkover.toml.default"
    if [ "${1:-}" = --purge ]; then
        rm -rf "$etc" "$state" "$unit.d"
        if host && getent passwd talkover >/dev/null; then userdel talkover; fi
        echo "talkover, its settings and its state are gone"
    else
        echo "talkover is gone; settings stay in /etc/talkover, state in /var/lib/talkover (--purge removes them)"
    fi
}

do_watchdog() {
    if [ "${1:-}" = off ]; then rm -f "$watchdog"; else put "$opt/current/unit/50-talkover-watchdog.conf" "$watchdog" 644; fi
    service daemon-reexec
}

! host || [ "$(id -u)" = 0 ] || fail "needs root: sudo sh $0 $*" 2
case "${1:-} ${2:-}" in
    "install " | "rollback " | "uninstall " | "uninstall --purge" | "watchdog " | "watchdog off") "do_$1" "${2:-}" ;;
    *) fail "expected install, rollback, uninstall [--purge] or watchdog [off], found: $*" 2 ;;
esac
