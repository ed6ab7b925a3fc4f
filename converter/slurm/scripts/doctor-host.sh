# doctor-host.sh PROGRAM...: the clock, who this is, and which programs are not there. Only looks.
#
# What stands before the first mark is not ours: a login that prints something.
echo '==clock=='
date +%s || true
echo '==name=='
uname -n || true
echo '==user=='
id -un || true
echo '==uid=='
id -u || true
echo '==missing=='
for program in "$@"; do
    command -v "$program" > /dev/null || echo "$program"
done
