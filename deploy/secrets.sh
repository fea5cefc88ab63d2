#!/bin/bash
# Makes what compose.yaml reads from deploy/secrets: passwords, certificates and keys, each with its owner, and the folder
# for backups. What is there already stays, so it may run again. Nobody has run it with Docker; a test runs it alone.
#
#   sudo deploy/secrets.sh memory.example.org     # the name by which laptops reach the gateway
set -euo pipefail
umask 077

name="${1:?Give the name by which laptops reach the gateway, such as memory.example.org}"
[ "$(id -u)" = 0 ] || { echo "Run it as root: the files belong to the users of the containers." >&2; exit 1; }
database=999 program=10001 # the users postgres and cognee of the images

folder="$(cd "$(dirname "$0")" && pwd)"
install -d -m 755 "$folder/secrets"
install -d -m 700 -o "$program" -g "$program" "$folder/backup"
cd "$folder/secrets"

put() { # FILE OWNER MODE: from standard input, unless it is there. It appears with its owner and mode.
    if [ -e "$1" ]; then
        cat > /dev/null
    else
        cat > ".$1.part"
        chown "$2:$2" ".$1.part"
        chmod "$3" ".$1.part"
        mv ".$1.part" "$1"
    fi
}

key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 2> /dev/null; }

for role in superuser owner host gateway; do
    openssl rand -hex 24 | put "${role}_password" "$database" 600
done
for role in owner host gateway; do
    printf 'postgres:5432:memories:cognee_%s:%s\n' "$role" "$(cat "${role}_password")" |
        put "${role}_pgpass" "$program" 600
done

[ -e ca.pem ] || key | put ca.key 0 600
[ -e ca.pem ] ||
    openssl req -x509 -new -key ca.key -days 3650 -subj "/CN=Memory CA" -addext "keyUsage=critical,keyCertSign,cRLSign" |
    put ca.pem 0 644

certificate() { # FILE OWNER NAMES
    [ ! -e "$1.pem" ] || return 0
    key | put "$1.key" "$2" 600
    openssl req -new -key "$1.key" -subj "/CN=$1" -addext "subjectAltName=$3" |
        openssl x509 -req -CA ca.pem -CAkey ca.key -set_serial "0x$(openssl rand -hex 16)" -copy_extensions copy \
            -days 365 2> /dev/null |
        put "$1.pem" 0 644
}
certificate postgres 0 "DNS:postgres"
certificate gateway "$program" "DNS:$name,DNS:gateway,DNS:localhost"

echo "$folder/secrets is complete. Give each laptop ca.pem, and move ca.key to another machine: it makes certificates."
