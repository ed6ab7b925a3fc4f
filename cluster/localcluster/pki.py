"""Certificates and kubeconfigs, written once and kept."""

from __future__ import annotations

import base64
import datetime
import ipaddress
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

VALIDITY = datetime.timedelta(days=3650)

PrivateKey = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey


@dataclass(frozen=True)
class Pair:
    """The files of a certificate and its private key, in PEM."""

    cert: Path
    key: Path


def pair(directory: Path, name: str) -> Pair:
    """Where the certificate of this name is, whether or not it has been written."""
    return Pair(directory / f"{name}.crt", directory / f"{name}.key")


def ensure_key(path: Path) -> None:
    """A private key alone, for signing service-account tokens."""
    if not path.exists():
        _write_key(path, ec.generate_private_key(ec.SECP256R1()))


def ensure_authority(directory: Path, name: str, *, rsa_key: bool = False) -> Pair:
    """A certificate authority, whose name is its DNS name too; made if it is not there."""
    files = pair(directory, name)
    if not files.cert.exists():
        key = _new_key(rsa_key)
        builder = _builder(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]), key)
        certificate = (
            builder.issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
            .add_extension(_authority_usage(), critical=True)
            .sign(key, hashes.SHA256())
        )
        _write(files, key, certificate)
    return files


def ensure_certificate(
    authority: Pair,
    directory: Path,
    name: str,
    *,
    common_name: str,
    organizations: Iterable[str] = (),
    dns_names: Iterable[str] = (),
    addresses: Iterable[str] = (),
    rsa_key: bool = False,
) -> Pair:
    """A certificate for a server and a client alike; made if it is not there.

    Kubernetes takes the common name for the user and the organizations for the groups.
    """
    files = pair(directory, name)
    if files.cert.exists():
        return files
    issuer_key = serialization.load_pem_private_key(authority.key.read_bytes(), password=None)
    if not isinstance(issuer_key, ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey):
        raise TypeError(f"{authority.key} holds a key of another kind")
    issuer = x509.load_pem_x509_certificate(authority.cert.read_bytes())
    key = _new_key(rsa_key)
    subject = x509.Name(
        [
            *(x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in organizations),
            x509.NameAttribute(NameOID.COMMON_NAME, common_name),
        ]
    )
    alternatives = [
        *(x509.DNSName(dns_name) for dns_name in dns_names),
        *(x509.IPAddress(ipaddress.ip_address(address)) for address in addresses),
    ]
    usages = x509.ExtendedKeyUsage(
        [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
    )
    builder = _builder(subject, key).issuer_name(issuer.subject).add_extension(usages, False)
    if alternatives:
        builder = builder.add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
    _write(files, key, builder.sign(issuer_key, hashes.SHA256()))
    return files


def write_kubeconfig(path: Path, *, name: str, server: str, ca: Path, client: Pair) -> None:
    """A kubeconfig with everything inside it. JSON is YAML too."""
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "clusters": [
            {
                "name": name,
                "cluster": {"server": server, "certificate-authority-data": _encoded(ca)},
            }
        ],
        "users": [
            {
                "name": name,
                "user": {
                    "client-certificate-data": _encoded(client.cert),
                    "client-key-data": _encoded(client.key),
                },
            }
        ],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
    }
    write_private(path, (json.dumps(document, indent=2) + "\n").encode())


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read, all or nothing."""
    temporary = path.with_name(f".{path.name}.new")
    temporary.touch(mode=0o600)
    temporary.write_bytes(content)
    temporary.rename(path)


def _encoded(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()


def _new_key(rsa_key: bool) -> PrivateKey:
    if rsa_key:
        return rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return ec.generate_private_key(ec.SECP256R1())


def _builder(subject: x509.Name, key: PrivateKey) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + VALIDITY)
    )


def _authority_usage() -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=True,
        crl_sign=True,
        encipher_only=False,
        decipher_only=False,
    )


def _write(files: Pair, key: PrivateKey, certificate: x509.Certificate) -> None:
    # The certificate last: its presence says that the pair is whole.
    _write_key(files.key, key)
    write_private(files.cert, certificate.public_bytes(serialization.Encoding.PEM))


def _write_key(path: Path, key: PrivateKey) -> None:
    # The traditional form, which is the only one that Kueue's certificate rotator reads.
    encoded = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    write_private(path, encoded)
