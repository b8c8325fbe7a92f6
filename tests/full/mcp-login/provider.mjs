// An authorization server: `node provider.mjs PORT LOG ROBOT_KEY`. Programs register themselves; a user logs in with the
// forms of the package. Access tokens are JSON Web Tokens for one resource, and live for four seconds. Each granted token
// and each registration is a line of LOG.
import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { appendFileSync, readFileSync } from 'node:fs';
import Provider from 'oidc-provider';

const [port, log, robotKey] = process.argv.slice(2);
const write = (line) => appendFileSync(log, `${line}\n`);
const key = (kind, options, alg) => ({
  ...generateKeyPairSync(kind, options).privateKey.export({ format: 'jwk' }), alg, use: 'sig', kid: alg,
});
const robot = createPublicKey(createPrivateKey(readFileSync(robotKey))).export({ format: 'jwk' });
const program = { grant_types: ['client_credentials'], response_types: [], redirect_uris: [] };

const issuer = `http://127.0.0.1:${port}`;
const provider = new Provider(issuer, {
  clients: [
    { ...program, client_id: 'robot', client_secret: 'secret of the robot', token_endpoint_auth_method: 'client_secret_post' },
    { ...program, client_id: 'signer', jwks: { keys: [robot] }, token_endpoint_auth_method: 'private_key_jwt' },
  ],
  clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'],
  jwks: { keys: [key('rsa', { modulusLength: 2048 }, 'RS256'), key('ec', { namedCurve: 'P-256' }, 'ES256')] },
  cookies: { keys: ['a key of the test'] },
  scopes: ['notes:read', 'notes:write'],
  issueRefreshToken: async () => true,
  rotateRefreshToken: true,
  features: {
    clientCredentials: { enabled: true },
    registration: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: async (ctx, resource, client) => ({
        audience: resource,
        scope: 'notes:read notes:write',
        accessTokenFormat: 'jwt',
        accessTokenTTL: 4,
        jwt: { sign: { alg: client.clientId === 'signer' ? 'RS256' : 'ES256' } },
      }),
    },
  },
});
provider.on('grant.success', (ctx) => write(`${ctx.oidc.params.grant_type} ${ctx.oidc.client.clientId}`));
provider.on('grant.error', (ctx, error) => write(`error ${error.error_description}`));
provider.on('registration_create.success', (ctx, client) => write(`registration ${client.clientId}`));
provider.on('server_error', (ctx, error) => console.error(error));
provider.listen(Number(port), '127.0.0.1', () => write('listening'));
