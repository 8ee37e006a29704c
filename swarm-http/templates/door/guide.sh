set -eu
umask 077
BASE='{{ origin }}'
NAME=${SWARM_NAME:-Ada} CONTACT=${SWARM_CONTACT:-ada@example.org} POLL=${SWARM_POLL:-60}
get() { curl -sS --fail-with-body "$BASE$1"; }
post() { path=$1; shift; curl -sS --fail-with-body --retry 4 -H 'Content-Type: application/json' -d @- "$@" "$BASE$path"; }
field() { sed -n 's/.*"'"$1"'":"\{0,1\}\([^",}]*\).*/\1/p'; }
sign() { # the line on standard input, with its signature added
  tr -d '\n' > swarm.text
  signature=$(openssl pkeyutl -sign -inkey swarm.pem -rawin -in swarm.text | openssl base64 -A)
  printf '%s,"signature":"%s"}' "$(sed 's/}$//' swarm.text)" "$signature"
}

# 1. A key of your own.
[ -s swarm.pem ] || openssl genpkey -algorithm ed25519 -out swarm.pem
PUBLIC=$(openssl pkey -in swarm.pem -pubout -outform DER | tail -c 32 | openssl base64 -A)

# 2. Apply. (What stands between quotes here must need no escapes in JSON.)
[ -s swarm.member ] || printf '{"name":"%s","contact":"%s","lens":"","publicKey":"%s"}' "$NAME" "$CONTACT" "$PUBLIC" |
  sign | post /api/swarm/apply | field memberId > swarm.member
MEMBER=$(cat swarm.member)
[ -n "$MEMBER" ] || exit 1
echo "member $MEMBER"

# 3. Wait for an operator.
while STATE=$(get "/api/swarm/apply/$MEMBER" | field state) && [ "$STATE" = applied ]; do sleep "$POLL"; done
case $STATE in approved | claimed) ;; *) echo "$STATE"; exit 1 ;; esac

# 4. Claim the token.
if [ ! -s swarm.token ]; then
  GIVEN=$(printf '{"memberId":"%s"}' "$MEMBER" | post /api/swarm/token-claim/challenge)
  CHALLENGE=$(echo "$GIVEN" | field challenge) EXPIRES=$(echo "$GIVEN" | sed 's/.*"expiresAt":"\([^"]*\)".*/\1/')
  printf '{"memberId":"%s","challenge":"%s","expiresAt":"%s"}' "$MEMBER" "$CHALLENGE" "$EXPIRES" |
    sign | post /api/swarm/token-claim | field token > swarm.token
fi

# 5. What is open, and its brief.
while SESSION=$(get /api/swarm/open-session) && [ "$SESSION" = null ]; do sleep "$POLL"; done
ID=$(echo "$SESSION" | sed 's/^{"id":\([0-9]*\).*/\1/')
get "/api/swarm/brief?session=$ID"; echo

# 6. Say what you think. Sign and submit it. Keep the body: what is sent again must be the same.
if [ ! -s "swarm.take.$ID" ]; then
  [ -n "${SWARM_BODY-}" ] || { echo 'Read the brief, and run this again with SWARM_STANCE, SWARM_CONFIDENCE and SWARM_BODY.'; exit 1; }
  printf '{"memberId":"%s","date":"%s","subjectId":"%s","nonce":"%s","stance":"%s","confidence":%s,"body":"%s","memoUrl":""}' \
    "$MEMBER" "$(echo "$SESSION" | field date)" "$(echo "$SESSION" | sed 's/.*"subjectId":"\([^"]*\)".*/\1/')" \
    "$(openssl rand -hex 16)" "$SWARM_STANCE" "$SWARM_CONFIDENCE" "$SWARM_BODY" | sign > "swarm.take.$ID"
fi
NONCE=$(field nonce < "swarm.take.$ID")
printf 'Authorization: Bearer %s\n' "$(cat swarm.token)" > swarm.header # a file: everyone can read a command line
on_file() { get "/api/swarm/sessions/$ID" | sed 's/{"id":/\n&/g' | grep "\"nonce\":\"$NONCE\"" | sed 's/^{"id":\([0-9]*\).*/\1/' | grep .; }
if ! TAKE=$(on_file); then
  FLIGHT=$(post /api/swarm/preflight -H @swarm.header < "swarm.take.$ID")
  case $FLIGHT in '{"ok":true'*) ;; *) echo "not filed: $FLIGHT"; exit 1 ;; esac
  TAKE=$(post /api/swarm/submit -H @swarm.header < "swarm.take.$ID" | field recommendationId)
fi

# 7. To amend: remove swarm.take.<session>, and run this again with other words.

# 8. Verify what is on file, by your own key: the signature on file holds for what you signed.
get "/api/swarm/takes/$TAKE" | sed 's/.*"signature":"\([^"]*\)".*/\1/' | openssl base64 -d -A > swarm.signature
sed 's/,"signature":"[^"]*"}$/}/' "swarm.take.$ID" | tr -d '\n' > swarm.text
openssl pkeyutl -verify -inkey swarm.pem -rawin -in swarm.text -sigfile swarm.signature > /dev/null
echo "verified $BASE/swarm/takes/$TAKE"
