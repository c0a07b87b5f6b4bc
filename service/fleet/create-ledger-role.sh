#!/bin/sh
# PostgreSQL's image runs this once, when it makes its data directory: a role that may log in, and a database of its own for the ledger.
set -eu
psql --set ON_ERROR_STOP=1 --no-psqlrc --quiet --username postgres --dbname postgres \
  --set "password=$(cat "$LEDGER_PASSWORD_FILE")" <<'SQL'
CREATE ROLE shelfd LOGIN PASSWORD :'password';
CREATE DATABASE shelfd OWNER shelfd;
SQL
