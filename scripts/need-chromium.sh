#!/usr/bin/env bash
# The report is tested in a real browser: the distribution's Chromium, installed here if we are root.
set -euo pipefail
if [ -x /usr/bin/chromium ]; then
  exit 0
fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "Installing Chromium for the tests of the report"
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null && exit 0
fi
echo "nic2core: the tests of the report need Chromium at /usr/bin/chromium. Install it with: sudo apt-get install chromium" >&2
exit 1
