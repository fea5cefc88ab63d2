#!/bin/bash
# Runs once, when the database is made: the three roles, and who may connect.
set -eu

# In assignments of their own: a file that cannot be read then ends the script.
owner="$(cat /run/secrets/owner_password)"
host="$(cat /run/secrets/host_password)"
gateway="$(cat /run/secrets/gateway_password)"

psql -v ON_ERROR_STOP=1 --username "$POSTGRES_USER" -v owner="$owner" -v host="$host" -v gateway="$gateway" <<'SQL'
CREATE ROLE cognee_owner LOGIN PASSWORD :'owner';
CREATE ROLE cognee_host LOGIN PASSWORD :'host';
CREATE ROLE cognee_gateway LOGIN PASSWORD :'gateway';
CREATE DATABASE memories OWNER cognee_owner;
REVOKE CONNECT, TEMPORARY ON DATABASE memories FROM PUBLIC;
GRANT CONNECT ON DATABASE memories TO cognee_host, cognee_gateway;
SQL

cat > "$PGDATA/pg_hba.conf" <<'HBA'
local   all      all                                      peer
hostssl memories cognee_owner,cognee_host,cognee_gateway  all  scram-sha-256
HBA
