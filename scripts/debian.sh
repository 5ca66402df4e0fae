# Sourced by setup.sh and install.sh: Debian packages that talkover needs, and the Python to use, in $python.

need=""
command -v flite >/dev/null 2>&1 || need="$need flite"                       # voices of people in the simulated room
command -v espeak-ng >/dev/null 2>&1 || need="$need espeak-ng"
ldconfig -p 2>/dev/null | grep -q 'libportaudio\.so' || need="$need libportaudio2"   # sound card
ldconfig -p 2>/dev/null | grep -q 'libusb-1\.0\.so' || need="$need libusb-1.0-0"     # the array's control
ldconfig -p 2>/dev/null | grep -q 'libGL\.so\.1' || need="$need libgl1"              # OpenCV
ldconfig -p 2>/dev/null | grep -q 'libglib-2\.0\.so' || need="$need libglib2.0-0"
case ",${extras:-}," in *,dev,*)                                              # the sound card of the tests
    command -v pulseaudio >/dev/null 2>&1 || need="$need pulseaudio"
    command -v pactl >/dev/null 2>&1 || need="$need pulseaudio-utils"
    ls /usr/lib/*/alsa-lib/libasound_module_pcm_pulse.so >/dev/null 2>&1 || need="$need libasound2-plugins" ;;
esac

python=""
for candidate in python3.11 python3.12 python3.13 python3; do
    if command -v "$candidate" >/dev/null 2>&1 &&
       "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        python=$candidate
        break
    fi
done
[ -n "$python" ] || need="$need python3"
if [ -z "$python" ] || ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then need="$need python3-venv"; fi

if [ -n "$need" ]; then
    if [ "$(id -u)" = 0 ]; then sudo=""
    elif command -v sudo >/dev/null 2>&1; then sudo=sudo
    else
        echo "talkover needs Debian packages and neither root nor sudo is at hand. As root, run:" >&2
        echo "    apt-get install -y --no-install-recommends$need" >&2
        exit 1
    fi
    echo "installing Debian packages:$need"
    $sudo apt-get update -qq
    # shellcheck disable=SC2086
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $need >/dev/null
    [ -n "$python" ] || python=python3
fi
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "talkover needs Python 3.11 or newer" >&2; exit 1; }
